// Memory that runs out in another program, which has the library of failing_allocations.cpp.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "core/worker/base/file_descriptor.hpp"
#include "tests/support/failing_allocations.hpp"

namespace keysieve::test {

class PreloadedFaults {
 public:
  explicit PreloadedFaults(std::string path) : path_(std::move(path)) {
    const FileDescriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    void* address = MAP_FAILED;
    if (::ftruncate(file.get(), sizeof(AllocationFaults)) == 0)
      address = ::mmap(nullptr, sizeof(AllocationFaults), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (address == MAP_FAILED) throw std::bad_alloc();
    faults_ = static_cast<AllocationFaults*>(address);
  }
  PreloadedFaults(const PreloadedFaults&) = delete;
  PreloadedFaults& operator=(const PreloadedFaults&) = delete;
  ~PreloadedFaults() { ::munmap(faults_, sizeof(AllocationFaults)); }

  // For a program that is to have the library. A leak or a wrong access ends it with a status of its own.
  static constexpr int kSanitizer = 99;
  [[nodiscard]] std::vector<std::string> environment() const {
    const char* options = std::getenv("ASAN_OPTIONS");
    return {"LD_PRELOAD=" FAILING_ALLOCATIONS, "KEYSIEVE_ALLOCATIONS=" + path_,
            std::string("ASAN_OPTIONS=") + (options == nullptr ? "" : options) +
                ":verify_asan_link_order=0:exitcode=" + std::to_string(kSanitizer)};
  }

  // In a program that runs, or in the next one: from now on, as begin_failing_allocations().
  void begin(std::uint64_t number, bool lasts) noexcept {
    faults_->made = 0;
    faults_->last = lasts ? ~std::uint64_t{0} : number;
    faults_->first = number;
  }
  std::uint64_t end() noexcept {
    faults_->first = 0;
    return faults_->made;
  }
  [[nodiscard]] std::uint64_t made() const noexcept { return faults_->made; }

 private:
  std::string path_;
  AllocationFaults* faults_;
};

}  // namespace keysieve::test
