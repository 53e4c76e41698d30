/* Opens the library argv[1] and prints what its function `answer` returns, if it has one. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 1;
  }
  /* POSIX's own way to turn an object pointer into a function pointer. */
  int (*answer)(void) = NULL;
  *(void**)&answer = dlsym(library, "answer");
  printf("%d\n", answer != NULL ? answer() : 0);
  return 0;
}
