// A seen set in a directory of this host, to be deleted: no loader can take it meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/publisher/seen/seen_writer.hpp"

namespace keysieve {

class SeenSetHere {
 public:
  // As root it becomes the owner of the set's folder for that and for remove(): segments of others are left
  // alone, see remove_segment(). Throws Locked while keysieved has the set, and as SeenWriter.
  SeenSetHere(const std::string& directory, const std::string& set_name);

  // "2 filters of 1.0 MiB in /run/keysieve/seen.d/clicks"
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  // Whether the loader has marked it as not configured any more. Else it may begin the set again.
  [[nodiscard]] bool is_left() const noexcept { return is_left_; }

  void remove();

 private:
  std::string folder_;
  std::optional<SeenWriter> writer_;
  std::string text_;
  std::uint64_t bytes_ = 0;
  bool is_left_ = false;
};

}  // namespace keysieve
