// The System V segments of this machine.
#pragma once

#include <sys/shm.h>
#include <sys/types.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/publisher/seen/new_segment.hpp"
#include "core/worker/seen/seen_page.hpp"
#include "core/worker/seen/segment.hpp"

namespace keysieve::test {

// As ipcs shows it.
struct SegmentStatus {
  std::uint32_t key = 0;
  std::uint64_t bytes = 0;
  pid_t creator = 0;
  std::uint64_t resident_bytes = 0;
};

// All segments of the machine.
inline std::vector<SegmentStatus> all_segments() {
  std::ifstream list("/proc/sysvipc/shm");
  std::vector<SegmentStatus> segments;
  std::string line;
  std::getline(list, line);  // the heads of the columns
  while (std::getline(list, line)) {
    std::istringstream columns(line);
    std::int32_t key = 0;
    int id = 0;
    std::string mode;
    SegmentStatus segment;
    columns >> key >> id >> mode >> segment.bytes >> segment.creator;
    // lpid, nattch, uid, gid, cuid, cgid, atime, dtime, ctime
    std::int64_t other = 0;
    for (int i = 0; i < 9; ++i) columns >> other;
    columns >> segment.resident_bytes;
    segment.key = static_cast<std::uint32_t>(key);
    segments.push_back(segment);
  }
  return segments;
}

// How many a process has made: other tests run at the same time.
inline std::size_t segments_of(pid_t creator) {
  std::size_t count = 0;
  for (const SegmentStatus& segment : all_segments()) count += segment.creator == creator ? 1U : 0U;
  return count;
}

// Removes those of a seen set, which outlive processes and its folder. Does nothing if it has no page.
inline void remove_segments_of(const std::string& set_folder) {
  std::ifstream file(set_folder + "/" + kSeenPageName, std::ios::binary);
  const auto page = std::make_unique<SeenPage>();
  if (!file.read(reinterpret_cast<char*>(page.get()), sizeof *page)) return;
  for (const SeenEntry& entry : page->entries) remove_segment(entry.segment_key);
}

inline bool has_segment(std::uint32_t key) {
  return ::shmget(static_cast<key_t>(key), 0, 0) >= 0;
}

}  // namespace keysieve::test
