// What published and seen sets that this thread has asked have in common: the reader of one, and what has
// been logged about it. Lives as long as its table or an object holds it, so a new object or request does not
// map anything again.
#pragma once

#include <string>
#include <string_view>

#include "ext/availability.hpp"
#include "ext/php_keysieve.h"

namespace keysieve {

template <typename Reader>
class Attached {
 public:
  Attached(const ReaderSettings& settings, std::string_view name) : reader_(settings, name) {}
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  [[nodiscard]] std::string_view name() const noexcept { return reader_.set_name(); }
  [[nodiscard]] const Reader& reader() const noexcept { return reader_; }

  // As of the last call.
  [[nodiscard]] bool is_ready() const noexcept { return reader_.availability() == Availability::Ready; }
  // When a call last found it not ready, by KEYSIEVE_G(uses).
  [[nodiscard]] std::uint64_t last_use() const noexcept { return last_use_; }

  void check_soon() noexcept { reader_.check_soon(); }

  void hold() noexcept { ++holders_; }
  // True for the last holder, which deletes it.
  [[nodiscard]] bool let_go() noexcept { return --holders_ == 0; }

 protected:
  ~Attached() = default;

  // Whether this call has to look at more than a word: the first call of a request does.
  bool begin_call() noexcept { return request_ != KEYSIEVE_G(request) || reader_.begin_call(); }
  // After begin_call(), before the reader's refresh().
  void begin_request() noexcept {
    if (request_ == KEYSIEVE_G(request)) return;
    request_ = KEYSIEVE_G(request);
    reader_.check_soon();
    static_cast<void>(reader_.begin_call());
  }

  void note_use() noexcept { last_use_ = ++KEYSIEVE_G(uses); }

  // Logs what `line()` makes, if something has changed since the last line.
  template <typename Line>
  void log_change(Line line) {
    if (reader_.availability() == logged_availability_ && reader_.reason() == logged_reason_) return;
    zend_string* text = line();
    logged_availability_ = reader_.availability();
    logged_reason_ = reader_.reason();
    write_error_log(text);
  }
  [[nodiscard]] bool was_ready() const noexcept { return logged_availability_ == Availability::Ready; }

  Reader reader_;  // first, because each call reads it

 private:
  std::uint64_t request_ = 0;
  std::uint64_t last_use_ = ++KEYSIEVE_G(uses);
  std::uint32_t holders_ = 1;  // the table
  Availability logged_availability_ = Availability::Ready;
  std::string logged_reason_;
};

}  // namespace keysieve
