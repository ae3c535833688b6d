/* Counts allocations of the C library between two calls of getenv(), which PHP code can make; LD_PRELOADed by
   HotPathTest. Prints the count to standard error at each stop. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

static int counting = 0;
static long allocations = 0;

void* malloc(size_t size) {
  allocations += counting;
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  allocations += counting;
  return __libc_calloc(count, size);
}

void* realloc(void* memory, size_t size) {
  allocations += counting;
  return __libc_realloc(memory, size);
}

void* memalign(size_t alignment, size_t size) {
  allocations += counting;
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** memory, size_t alignment, size_t size) {
  *memory = memalign(alignment, size);
  return 0;
}

char* getenv(const char* name) {
  static char* (*next)(const char*) = NULL;
  if (strcmp(name, "KEYSIEVE_ALLOCATIONS_START") == 0) {
    allocations = 0;
    counting = 1;
    return NULL;
  }
  if (strcmp(name, "KEYSIEVE_ALLOCATIONS_STOP") == 0) {
    counting = 0;
    fprintf(stderr, "%ld\n", allocations);
    return NULL;
  }
  if (next == NULL) next = (char* (*)(const char*))dlsym(RTLD_NEXT, "getenv");
  return next(name);
}
