#include "tests/support/failing_allocations.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

// What does the work: AddressSanitizer's functions where it is there, else glibc's, both by their other
// names. NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): they are named so
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* address, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
[[gnu::weak]] void* __interceptor_malloc(std::size_t bytes);
[[gnu::weak]] void* __interceptor_calloc(std::size_t count, std::size_t bytes);
[[gnu::weak]] void* __interceptor_realloc(void* address, std::size_t bytes);
[[gnu::weak]] void* __interceptor_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

using keysieve::test::AllocationFaults;

AllocationFaults own_faults;
AllocationFaults* faults = &own_faults;
constexpr std::uint64_t kForEver = ~std::uint64_t{0};

// nlohmann::json 3.11 allocates in its destructor, and so ends the program where that fails; so does hiredis
// 0.14 where it connects. The programs end then; a test that links this in must go on. Its symbols must be
// exported.
constexpr std::array kEndsTheProgram{"json_value7destroy", "redisContextConnect"};

bool is_end_of_the_program() noexcept {
  std::array<void*, 64> callers{};
  const int count = ::backtrace(callers.data(), static_cast<int>(callers.size()));
  return std::any_of(callers.begin(), callers.begin() + count, [](void* caller) {
    Dl_info found{};
    return ::dladdr(caller, &found) != 0 && found.dli_sname != nullptr &&
           std::any_of(kEndsTheProgram.begin(), kEndsTheProgram.end(),
                       [&](const char* name) { return std::strstr(found.dli_sname, name) != nullptr; });
  });
}

// The sanitizer gives up where a thread's stack cannot be found out.
[[gnu::tls_model("initial-exec")]] thread_local bool may_not_fail = false;

bool fails() noexcept {
  if (may_not_fail) return false;
  const std::uint64_t number = ++faults->made;
  const std::uint64_t first = faults->first;
  if (first == 0 || number < first || number > faults->last) return false;
  may_not_fail = true;  // what looks for the callers allocates, too
  const bool is_left_alone = is_end_of_the_program();
  may_not_fail = false;
  errno = ENOMEM;
  return !is_left_alone;
}

template <typename Function, typename... Arguments>
auto call(Function* sanitizer, Function* libc, Arguments... arguments) noexcept {
  return sanitizer != nullptr ? sanitizer(arguments...) : libc(arguments...);
}

void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept {
  return fails() ? nullptr : call(__interceptor_memalign, __libc_memalign, alignment, bytes);
}

void* or_throw(void* address) {
  if (address == nullptr) throw std::bad_alloc();
  return address;
}

}  // namespace

extern "C" {
// What the dynamic linker keeps, which the sanitizer knows only when it calls the sanitizer's own malloc; and
// what nlohmann::json loses when memory runs out in the middle of a list, and hiredis in that of a command.
const char* __lsan_default_suppressions() {
  return "leak:_dl_map_object_deps\nleak:nlohmann\nleak:sdsnewlen\n";
}
const char* __lsan_default_options() {
  return "print_suppressions=0";
}

void begin_failing_allocations(std::uint64_t number, bool lasts) noexcept {
  faults->made = 0;
  faults->last = lasts ? kForEver : number;
  faults->first = number;
}
std::uint64_t end_failing_allocations() noexcept {
  faults->first = 0;
  return faults->made;
}

int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) noexcept {
  static const auto real =
      reinterpret_cast<decltype(&pthread_getattr_np)>(::dlsym(RTLD_NEXT, "pthread_getattr_np"));
  may_not_fail = true;
  const int result = real(thread, attributes);
  may_not_fail = false;
  return result;
}

void* malloc(std::size_t bytes) noexcept {
  return fails() ? nullptr : call(__interceptor_malloc, __libc_malloc, bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  return fails() ? nullptr : call(__interceptor_calloc, __libc_calloc, count, bytes);
}
void* realloc(void* address, std::size_t bytes) noexcept {
  return bytes != 0 && fails() ? nullptr : call(__interceptor_realloc, __libc_realloc, address, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return allocate_aligned(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return allocate_aligned(alignment, bytes);
}
int posix_memalign(void** address, std::size_t alignment, std::size_t bytes) noexcept {
  *address = allocate_aligned(alignment, bytes);
  return *address == nullptr ? ENOMEM : 0;
}
}

void* operator new(std::size_t bytes) {
  return or_throw(std::malloc(bytes == 0 ? 1 : bytes));
}
void* operator new[](std::size_t bytes) {
  return operator new(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*unused*/) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*unused*/) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return or_throw(allocate_aligned(static_cast<std::size_t>(alignment), bytes == 0 ? 1 : bytes));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return operator new(bytes, alignment);
}
void operator delete(void* address) noexcept {
  std::free(address);
}
void operator delete[](void* address) noexcept {
  std::free(address);
}
void operator delete(void* address, std::size_t /*bytes*/) noexcept {
  std::free(address);
}
void operator delete[](void* address, std::size_t /*bytes*/) noexcept {
  std::free(address);
}
void operator delete(void* address, std::align_val_t /*alignment*/) noexcept {
  std::free(address);
}
void operator delete[](void* address, std::align_val_t /*alignment*/) noexcept {
  std::free(address);
}
void operator delete(void* address, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(address);
}
void operator delete[](void* address, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(address);
}

#ifdef KEYSIEVE_PRELOADED
namespace {

int (*real_main)(int, char**, char**);

int main_with_faults(int count, char** arguments, char** environment) {
  if (const char* path = std::getenv("KEYSIEVE_ALLOCATIONS")) {
    const int file = ::open(path, O_RDWR | O_CLOEXEC);
    void* page = ::mmap(nullptr, sizeof(AllocationFaults), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (page == MAP_FAILED) std::abort();
    faults = static_cast<AllocationFaults*>(page);
  }
  return real_main(count, arguments, environment);
}

}  // namespace

// Which calls main().
extern "C" int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments,
                                 void (*init)(), void (*fini)(), void (*end_of_loader)(),
                                 void* end_of_stack) {
  real_main = main;
  const auto real = reinterpret_cast<decltype(&__libc_start_main)>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return real(&main_with_faults, count, arguments, init, fini, end_of_loader, end_of_stack);
}
#endif
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
