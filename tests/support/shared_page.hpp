// Memory that the processes of a test share, to tell each other things.
#pragma once

#include <sys/mman.h>

#include <new>

namespace keysieve::test {

// T holds atomics; made before the processes are forked.
template <typename T>
class SharedPage {
 public:
  SharedPage()
      : address_(::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (address_ == MAP_FAILED) throw std::bad_alloc();
    shared_ = new (address_) T;
  }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  ~SharedPage() { ::munmap(address_, sizeof(T)); }
  T* operator->() const noexcept { return shared_; }
  T& operator*() const noexcept { return *shared_; }

 private:
  void* address_;
  T* shared_;
};

}  // namespace keysieve::test
