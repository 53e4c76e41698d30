#include "fakes/synthetic_training.h"

#include <iterator>
#include <limits>
#include <random>
#include <utility>

namespace torchtrace::fakes {
namespace {

using core::OpId;
using core::Scope;

/// One call: `level` calls below its phase's first, with its typical time outside its children.
struct Call {
  std::uint16_t level;
  Scope scope;
  bool
      differentiable;  ///< Takes an autograd sequence number in forward, gives it back in backward.
  std::uint32_t self_ns;
  const char* name;
};

constexpr Call kForward[] = {
    {0, Scope::kFunction, false, 1200, "aten::linear"},
    {1, Scope::kFunction, false, 900, "aten::t"},
    {2, Scope::kFunction, false, 700, "aten::transpose.int"},
    {3, Scope::kFunction, false, 300, "aten::as_strided"},
    {1, Scope::kFunction, true, 21000, "aten::addmm"},
    {2, Scope::kFunction, false, 800, "aten::expand"},
    {3, Scope::kFunction, false, 300, "aten::as_strided"},
    {2, Scope::kFunction, false, 1500, "aten::copy_"},
    {2, Scope::kFunction, false, 150, "aten::resolve_conj"},
    {0, Scope::kFunction, true, 900, "aten::relu"},
    {1, Scope::kFunction, false, 2500, "aten::clamp_min"},
    {0, Scope::kFunction, false, 1500, "aten::cross_entropy_loss"},
    {1, Scope::kFunction, false, 800, "aten::log_softmax.int"},
    {2, Scope::kFunction, true, 4200, "aten::_log_softmax"},
    {1, Scope::kFunction, false, 600, "aten::nll_loss_nd"},
    {2, Scope::kFunction, false, 500, "aten::nll_loss"},
    {3, Scope::kFunction, true, 2100, "aten::nll_loss_forward"},
};

constexpr Call kBackward[] = {
    {0, Scope::kBackwardFunction, true, 700, "NllLossBackward0"},
    {1, Scope::kFunction, false, 1900, "aten::nll_loss_backward"},
    {2, Scope::kFunction, false, 400, "aten::zero_"},
    {3, Scope::kFunction, false, 600, "aten::fill_.Scalar"},
    {0, Scope::kBackwardFunction, true, 500, "LogSoftmaxBackward0"},
    {1, Scope::kFunction, false, 3300, "aten::_log_softmax_backward_data"},
    {0, Scope::kBackwardFunction, true, 500, "ReluBackward0"},
    {1, Scope::kFunction, false, 2600, "aten::threshold_backward"},
    {0, Scope::kBackwardFunction, true, 1100, "AddmmBackward0"},
    {1, Scope::kFunction, false, 900, "aten::t"},
    {2, Scope::kFunction, false, 700, "aten::transpose.int"},
    {3, Scope::kFunction, false, 300, "aten::as_strided"},
    {1, Scope::kFunction, false, 24000, "aten::mm"},
    {1, Scope::kFunction, false, 3100, "aten::sum.dim_IntList"},
    {0, Scope::kBackwardFunction, false, 400, "torch::autograd::AccumulateGrad"},
    {1, Scope::kFunction, false, 500, "aten::detach"},
};

constexpr Call kOptimizer[] = {
    {0, Scope::kUserScope, false, 9000, "Optimizer.step#SGD.step"},
    {1, Scope::kFunction, false, 4000, "aten::_foreach_mul_.Scalar"},
    {1, Scope::kFunction, false, 5200, "aten::_foreach_add_.List"},
    {0, Scope::kUserScope, false, 3000, "Optimizer.zero_grad#SGD.zero_grad"},
};

/// What one thread runs in one step.
struct Phase {
  std::uint32_t slot;
  const Call* calls;
  std::size_t size;
};

constexpr Phase kStep[] = {
    {kMainSlot, kForward, std::size(kForward)},
    {kBackwardSlot, kBackward, std::size(kBackward)},
    {kMainSlot, kOptimizer, std::size(kOptimizer)},
};

constexpr std::size_t kNoParent = std::numeric_limits<std::size_t>::max();

class Training {
 public:
  Training(std::uint64_t operators, std::uint64_t seed, std::uint64_t start_ns)
      : wanted_(operators), random_(seed), now_ns_(start_ns) {
    operators_.reserve(operators);
  }

  std::vector<SyntheticOperator> run() {
    const Call training{0, Scope::kUserScope, false, 5000, "training"};
    const std::size_t outermost = begin(training, kMainSlot, kNoParent);
    while (!complete()) run_step(outermost);
    end(outermost, kNoParent);
    return std::move(operators_);
  }

 private:
  bool complete() const { return operators_.size() == wanted_; }

  void run_step(std::size_t outermost) {
    for (const Phase& phase : kStep) {
      const std::size_t parent = phase.slot == kMainSlot ? outermost : kNoParent;
      backward_sequence_nr_ = sequence_nr_;
      for (std::size_t next = 0; next < phase.size;) next = run_call(phase, next, parent);
    }
  }

  /// Runs the call at `index` with those below it; returns the index behind them.
  std::size_t run_call(const Phase& phase, std::size_t index, std::size_t parent) {
    const Call& call = phase.calls[index++];
    if (complete()) return index;
    const std::size_t self = begin(call, phase.slot, parent);
    while (index < phase.size && phase.calls[index].level > call.level) {
      index = run_call(phase, index, self);
    }
    pass(call.self_ns / 2);
    end(self, parent);
    return index;
  }

  std::size_t begin(const Call& call, std::uint32_t slot, std::size_t parent) {
    const bool is_root = parent == kNoParent;
    const bool is_backward = call.differentiable && call.scope == Scope::kBackwardFunction;
    SyntheticOperator op{};
    op.name = call.name;
    op.scope = call.scope;
    op.begin_ns = now_ns_;
    op.op_id = OpId::make(slot, ++started_[slot]);
    op.parent = is_root ? 0 : operators_[parent].op_id;
    op.depth = static_cast<std::uint16_t>(is_root ? 0 : operators_[parent].depth + 1);
    op.sequence_nr = call.differentiable ? next_sequence_nr(is_backward) : -1;
    op.forward_thread = is_backward ? kMainSlot : 0;
    op.slot = slot;
    operators_.push_back(op);
    pass(call.self_ns / 2);
    return operators_.size() - 1;
  }

  void end(std::size_t self, std::size_t parent) {
    SyntheticOperator& op = operators_[self];
    op.end_ns = now_ns_;
    if (parent != kNoParent) operators_[parent].children_ns += op.end_ns - op.begin_ns;
  }

  std::int64_t next_sequence_nr(bool is_backward) {
    return is_backward ? --backward_sequence_nr_ : sequence_nr_++;
  }

  /// Lets half to three halves of `typical_ns` pass.
  void pass(std::uint64_t typical_ns) { now_ns_ += typical_ns / 2 + random_() % (typical_ns + 1); }

  std::uint64_t wanted_;
  std::mt19937_64 random_;
  std::uint64_t now_ns_;
  std::int64_t sequence_nr_ = 0;
  std::int64_t backward_sequence_nr_ = 0;
  std::uint64_t started_[kBackwardSlot + 1] = {};  ///< By slot: operators so far.
  std::vector<SyntheticOperator> operators_;
};

}  // namespace

std::vector<SyntheticOperator> synthetic_training(std::uint64_t operators, std::uint64_t seed,
                                                  std::uint64_t start_ns) {
  if (operators == 0) return {};
  return Training(operators, seed, start_ns).run();
}

}  // namespace torchtrace::fakes
