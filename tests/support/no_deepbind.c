// Preloaded into PHP, which opens its modules with RTLD_DEEPBIND: AddressSanitizer refuses that.
#define _GNU_SOURCE
#include <dlfcn.h>

void* dlopen(const char* path, int mode) {
  void* (*next)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  return next(path, mode & ~RTLD_DEEPBIND);
}
