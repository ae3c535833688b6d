// Rereads what is published, a stretch at a time. Nothing else checks that the bytes in shared memory are
// still those that were published.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/worker/shm/attachment.hpp"
#include "core/worker/shm/set_folder.hpp"
#include "tools/loader/config/schedule.hpp"

namespace keysieve {

class LiveVerifier {
 public:
  // Whether something is to be read now: once a second.
  bool take_due(SteadyTime now) noexcept;
  // Says what is wrong with the current publication; nothing when no damage was found. Reads the header,
  // the tables and the next 16 MiB.
  std::optional<std::string> find_damage(const SetFolder& folder, const std::string& set_name,
                                         PublicationId current);

 private:
  void read_some(const Attachment& attachment, const FileDescriptor& file, const std::string& path);

  PublicationId reading_{};
  std::uint64_t next_stretch_ = 0;
  SteadyTime due_{};
};

}  // namespace keysieve
