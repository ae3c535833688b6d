// Rereads what is published, a stretch at a time. Nothing else checks that the bytes in shared memory are
// still those that were published.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/publisher/shm/publisher.hpp"
#include "core/worker/shm/attachment.hpp"
#include "tools/loader/config/schedule.hpp"

namespace keysieve {

class LiveVerifier {
 public:
  // Says what is wrong with the current publication; nothing when no damage was found. Reads the header,
  // the tables and the next 16 MiB, at most once a second.
  std::optional<std::string> find_damage(const Publisher& publisher, SteadyTime now);

  // Whether all of the current publication was read since the last call.
  [[nodiscard]] bool take_end_of_round() noexcept { return std::exchange(is_at_end_, false); }

 private:
  void read_some(const Attachment& attachment, const FileDescriptor& file, const std::string& path);

  PublicationId reading_{};
  std::uint64_t next_stretch_ = 0;
  SteadyTime due_{};
  bool is_at_end_ = false;
};

}  // namespace keysieve
