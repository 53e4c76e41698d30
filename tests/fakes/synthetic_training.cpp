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
  unsigned level;
  const char* name;
  Scope scope;
  std::uint64_t self_ns;
  bool
      differentiable;  ///< Takes an autograd sequence number in forward, gives it back in backward.
};

constexpr Call kForward[] = {
    {0, "aten::linear", Scope::kFunction, 1200, false},
    {1, "aten::t", Scope::kFunction, 900, false},
    {2, "aten::transpose.int", Scope::kFunction, 700, false},
    {3, "aten::as_strided", Scope::kFunction, 300, false},
    {1, "aten::addmm", Scope::kFunction, 21000, true},
    {2, "aten::expand", Scope::kFunction, 800, false},
    {3, "aten::as_strided", Scope::kFunction, 300, false},
    {2, "aten::copy_", Scope::kFunction, 1500, false},
    {2, "aten::resolve_conj", Scope::kFunction, 150, false},
    {0, "aten::relu", Scope::kFunction, 900, true},
    {1, "aten::clamp_min", Scope::kFunction, 2500, false},
    {0, "aten::cross_entropy_loss", Scope::kFunction, 1500, false},
    {1, "aten::log_softmax.int", Scope::kFunction, 800, false},
    {2, "aten::_log_softmax", Scope::kFunction, 4200, true},
    {1, "aten::nll_loss_nd", Scope::kFunction, 600, false},
    {2, "aten::nll_loss", Scope::kFunction, 500, false},
    {3, "aten::nll_loss_forward", Scope::kFunction, 2100, true},
};

constexpr Call kBackward[] = {
    {0, "NllLossBackward0", Scope::kBackwardFunction, 700, true},
    {1, "aten::nll_loss_backward", Scope::kFunction, 1900, false},
    {2, "aten::zero_", Scope::kFunction, 400, false},
    {3, "aten::fill_.Scalar", Scope::kFunction, 600, false},
    {0, "LogSoftmaxBackward0", Scope::kBackwardFunction, 500, true},
    {1, "aten::_log_softmax_backward_data", Scope::kFunction, 3300, false},
    {0, "ReluBackward0", Scope::kBackwardFunction, 500, true},
    {1, "aten::threshold_backward", Scope::kFunction, 2600, false},
    {0, "AddmmBackward0", Scope::kBackwardFunction, 1100, true},
    {1, "aten::t", Scope::kFunction, 900, false},
    {2, "aten::transpose.int", Scope::kFunction, 700, false},
    {3, "aten::as_strided", Scope::kFunction, 300, false},
    {1, "aten::mm", Scope::kFunction, 24000, false},
    {1, "aten::sum.dim_IntList", Scope::kFunction, 3100, false},
    {0, "torch::autograd::AccumulateGrad", Scope::kBackwardFunction, 400, false},
    {1, "aten::detach", Scope::kFunction, 500, false},
};

constexpr Call kOptimizer[] = {
    {0, "Optimizer.step#SGD.step", Scope::kUserScope, 9000, false},
    {1, "aten::_foreach_mul_.Scalar", Scope::kFunction, 4000, false},
    {1, "aten::_foreach_add_.List", Scope::kFunction, 5200, false},
    {0, "Optimizer.zero_grad#SGD.zero_grad", Scope::kUserScope, 3000, false},
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
    const Call training{0, "training", Scope::kUserScope, 5000, false};
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
