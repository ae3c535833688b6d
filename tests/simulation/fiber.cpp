#include "tests/simulation/fiber.hpp"

#include <cxxabi.h>

#include <cstring>
#include <utility>

namespace keysieve::test {
namespace {

Fiber* starting = nullptr;

}  // namespace

Fiber::Fiber(std::function<void()> work) : work_(std::move(work)), stack_(new char[kStackBytes]) {
  ::getcontext(&own_);
  own_.uc_stack.ss_sp = stack_.get();
  own_.uc_stack.ss_size = kStackBytes;
  own_.uc_link = &resumer_;
  ::makecontext(&own_, &Fiber::begin, 0);
}

void Fiber::begin() {
  Fiber& self = *starting;
  self.work_();
  self.has_ended_ = true;
  self.swap_to(self.own_, self.resumer_);
}

void Fiber::resume() {
  starting = this;
  swap_to(resumer_, own_);
}

void Fiber::pause() {
  swap_to(own_, resumer_);
}

// The exceptions of the side that goes on are exchanged for those of the side that stops.
void Fiber::swap_to(ucontext_t& from, ucontext_t& to) {
  void* globals = abi::__cxa_get_globals();
  Exceptions now;
  std::memcpy(&now, globals, sizeof now);
  std::memcpy(globals, &exceptions_, sizeof exceptions_);
  exceptions_ = now;
  ::swapcontext(&from, &to);
}

}  // namespace keysieve::test
