// A function that can pause in the middle, and go on later, in the same thread.
#pragma once

#include <ucontext.h>

#include <functional>
#include <memory>

namespace keysieve::test {

class Fiber {
 public:
  // `work` must not throw.
  explicit Fiber(std::function<void()> work);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs it until it pauses or ends. Not from within a fiber.
  void resume();
  // By the fiber itself.
  void pause();
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }

 private:
  // The C++ runtime's view of the exceptions on a stack. Each stack needs its own.
  struct Exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };

  static void begin();
  void swap_to(ucontext_t& from, ucontext_t& to);

  static constexpr std::size_t kStackBytes = std::size_t{1} << 20;

  std::function<void()> work_;
  std::unique_ptr<char[]> stack_;  // left uninitialised
  ucontext_t own_{};
  ucontext_t resumer_{};
  Exceptions exceptions_;
  bool has_ended_ = false;
};

}  // namespace keysieve::test
