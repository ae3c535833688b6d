// Log lines go to standard error: with a time for people, with a priority prefix for the journal. They never
// wait for a reader.
#pragma once

#include <spdlog/sinks/base_sink.h>

#include <cstdint>
#include <mutex>
#include <string_view>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve {

// Where they go. If the reader stops, lines are dropped and counted, and the next one that is written comes
// after their number.
class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // Does not close the descriptor.
  explicit LogSink(int descriptor);

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}
  bool write(const spdlog::details::log_msg& message);

  FileDescriptor
      own_;  // the same pipe or terminal, if it can be opened again, so that O_NONBLOCK is ours alone
  int descriptor_;
  bool is_journal_;
  std::uint64_t dropped_ = 0;
  bool is_cut_ = false;  // the last line was written in part
};

// Writes as much of the text as there is room for without waiting, and returns how much: others may have
// stopped reading a pipe or a terminal. Any error counts as no room. On a pipe, up to PIPE_BUF bytes go as a
// whole or not at all. A terminal must be open with O_NONBLOCK. Needs no memory.
std::size_t write_without_waiting(int descriptor, std::string_view text) noexcept;

}  // namespace keysieve
