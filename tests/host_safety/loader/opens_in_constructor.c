/* Calls dlopen from a constructor, with a path, as libraries below Debian's libtorch do. At that
 * time libtorch_cpu, which needs this one, is mapped and not yet initialised. */
#include <dlfcn.h>
#include <stdlib.h>

static int constructed = 0;

__attribute__((constructor)) static void open_another(void) {
  if (dlopen(TORCHTRACE_TEST_OTHER, RTLD_NOW) == NULL) {
    abort();
  }
  constructed = 1;
}

int torchtrace_test_early_is_constructed(void) { return constructed; }
