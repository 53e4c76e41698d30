// A libtorch_cpu that has what the agent looks for, and notices if it is used or initialised before
// what it needs has been: an agent that touches it inside a nested dlopen makes the loader run
// constructors out of order. It never runs an operator.
#include <cstdint>

extern "C" int torchtrace_test_early_is_constructed();

namespace {

bool initialised = false;
bool out_of_order = false;
int registrations = 0;

__attribute__((constructor)) void initialise() {
  out_of_order = torchtrace_test_early_is_constructed() == 0;
  initialised = true;
}

}  // namespace

namespace at {

// Same size and same passing as PyTorch's: 40 bytes by value.
struct RecordFunctionCallback {
  std::uint64_t words[5];
};

class RecordFunction {
 public:
  __attribute__((visibility("default"))) const char* name() const;
};

const char* RecordFunction::name() const { return "none"; }

// PyTorch's name. NOLINTNEXTLINE(readability-identifier-naming)
__attribute__((visibility("default"))) std::uint64_t addGlobalCallback(
    RecordFunctionCallback /*callback*/) {
  out_of_order = out_of_order || !initialised;
  ++registrations;
  return 1;
}

}  // namespace at

// How often a callback was registered; -1 if anything happened before its time.
extern "C" __attribute__((visibility("default"))) int fake_libtorch_state() {
  return out_of_order ? -1 : registrations;
}
