// Seen sets without a loader and a configuration, for tests that are not written in C++. A set belongs to the
// group of its directory. Windows last ten minutes by plan, and expire ten minutes later.
//
//   seen_windows DIRECTORY SET restore [ON_UNAVAILABLE]            a set without filters, as during a restore
//   seen_windows DIRECTORY SET open KEYS RATE [ON_UNAVAILABLE]     with a filter for so many keys
//   seen_windows DIRECTORY SET append                              the next window
//   seen_windows DIRECTORY SET grow                                one more filter for the newest window
//   seen_windows DIRECTORY SET add KEY                             as a worker does
//   seen_windows DIRECTORY SET look AGO NEXT [full]                has looked AGO seconds ago, will in NEXT
//   seen_windows DIRECTORY SET leave                               as a loader that has it no more
//   seen_windows DIRECTORY SET remove                              the memory, which outlives the set's
//   folder
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "core/publisher/seen/seen_sizing.hpp"
#include "core/publisher/seen/seen_writer.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/seen/seen_reader.hpp"
#include "tests/support/hash_key.hpp"
#include "tests/support/segments.hpp"

namespace keysieve {
namespace {

constexpr HashSeed kSeed{42};
constexpr UnixSeconds kWindowSeconds = 600;

OnUnavailable on_unavailable_of(const std::string& text) {
  const auto* const found = std::find_if(kOnUnavailable.begin(), kOnUnavailable.end(),
                                         [&](OnUnavailable one) { return to_string(one) == text; });
  if (found == kOnUnavailable.end()) throw Error(ErrorKind::Usage, "no such answer: " + text);
  return *found;
}

SeenWindow window_from(UnixSeconds begins) {
  return {begins, begins + kWindowSeconds, kWindowSeconds};
}

void append_filter(SeenWriter& writer, const SeenWindow& window, std::uint64_t keys, double rate) {
  writer.append(
      {.window = window, .growth = 0, .capacity = keys, .rate = rate, .size = seen_size(keys, rate)},
      boot_now());
}

bool change(SeenWriter& writer, const std::vector<std::string>& words) {
  const std::string& verb = words.front();
  const bool is_there = writer.adopt();
  if (verb == "restore" && words.size() <= 2) {
    writer.create(kSeed, on_unavailable_of(words.size() == 2 ? words[1] : "new"));
    return true;
  }
  if (verb == "open" && (words.size() == 3 || words.size() == 4)) {
    writer.create(kSeed, on_unavailable_of(words.size() == 4 ? words[3] : "new"));
    append_filter(writer, window_from(unix_now()), std::stoull(words[1]), std::stod(words[2]));
    return true;
  }
  if (verb == "look" && words.size() >= 3) {
    Troubles troubles;
    if (words.size() == 4) troubles.add(Trouble::SeenFull);
    writer.looked(unix_now() - std::stoll(words[1]), unix_now() + std::stoll(words[2]), troubles);
    return true;
  }
  if (words.size() != 1) return false;
  if (verb == "leave") {
    writer.leave(unix_now());
    return true;
  }
  if (!is_there) throw Error(ErrorKind::MissingInput, "there is no such set");
  if (writer.filters().empty()) throw Error(ErrorKind::MissingInput, "the set has no filter");
  const SeenPlan newest = writer.filters().back().plan;
  if (verb == "append") {
    append_filter(writer, window_from(newest.window.ends), newest.capacity, newest.rate);
  } else if (verb == "grow") {
    writer.append(grown(newest), boot_now());
  } else {
    return false;
  }
  writer.looked(unix_now());
  return true;
}

gid_t group_of(const std::string& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) throw_read_error(directory, errno);
  return status.st_gid;
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 3 && words[2] == "remove") {
      keysieve::test::remove_segments_of(keysieve::seen_directory(words[0]) + "/" + words[1]);
      return 0;
    }
    if (words.size() == 4 && words[2] == "add") {
      keysieve::SeenReader reader({.directory = words[0]}, words[1]);
      reader.follow();
      static_cast<void>(reader.add_if_new(keysieve::hash_key(words[3], keysieve::kSeed)));
      return 0;
    }
    if (words.size() >= 3) {
      keysieve::SeenWriter writer(words[0], words[1], keysieve::group_of(words[0]));
      if (keysieve::change(writer, {words.begin() + 2, words.end()})) return 0;
    }
    std::fputs("usage: see tests/support/seen_windows_program.cpp\n", stderr);
    return 64;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "seen_windows: %s\n", failure.what());
    return 1;
  }
}
