/* Its RUNPATH leads to a folder that only it knows; it opens a library there by bare name. The
 * loader takes the RUNPATH of the library that dlopen is called from: an interposed dlopen that
 * makes the call itself, rather than jumping to the real one, makes this fail. */
#include <dlfcn.h>
#include <stddef.h>

int answer(void) { return dlopen("libtorchtrace_test_hidden.so", RTLD_NOW) != NULL ? 42 : -1; }
