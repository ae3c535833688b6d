// Reads what is published again and again, a stretch at a time: nobody else looks whether the bytes of shared
// memory are still those that were published.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/shm/publisher.hpp"
#include "tools/loader/config/schedule.hpp"

namespace keysieve {

class LiveVerifier {
 public:
  // What is wrong with what is current; nothing when nothing was found. Reads the header, the tables and the
  // next 16 MiB; nothing within a second of the last time.
  std::optional<std::string> find_damage(const Publisher& publisher, SteadyTime now);

  // All of what is current was read since the last call of this.
  [[nodiscard]] bool take_end_of_round() noexcept { return std::exchange(is_at_end_, false); }

 private:
  void read_some(const Attachment& attachment, const FileDescriptor& file, const std::string& path);

  PublicationId reading_{};
  std::uint64_t next_stretch_ = 0;
  SteadyTime due_{};
  bool is_at_end_ = false;
};

}  // namespace keysieve
