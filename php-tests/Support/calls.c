/* Counts what a lookup must not do and strace does not show: allocations, and looks at the clock, which need no system
   call. Between two calls of getenv(), which PHP code can make; LD_PRELOADed by HotPathTest. Prints both counts to
   standard error at each stop. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

static int counting = 0;
static long allocations = 0;
static long clock_looks = 0;

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

int clock_gettime(clockid_t clock, struct timespec* now) {
  clock_looks += counting;
  return (int)syscall(SYS_clock_gettime, clock, now);
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  clock_looks += counting;
  return (int)syscall(SYS_gettimeofday, now, zone);
}

time_t time(time_t* now) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now != NULL) *now = precise.tv_sec;
  return precise.tv_sec;
}

char* getenv(const char* name) {
  static char* (*next)(const char*) = NULL;
  if (strcmp(name, "KEYSIEVE_COUNT_START") == 0) {
    allocations = clock_looks = 0;
    counting = 1;
    return NULL;
  }
  if (strcmp(name, "KEYSIEVE_COUNT_STOP") == 0) {
    counting = 0;
    fprintf(stderr, "%ld %ld\n", allocations, clock_looks);
    return NULL;
  }
  if (next == NULL) next = (char* (*)(const char*))dlsym(RTLD_NEXT, "getenv");
  return next(name);
}
