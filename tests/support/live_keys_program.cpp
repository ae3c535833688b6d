// What a loader leaves in shared memory, for tests that are not written in C++. A publication has
// room for live keys, which are added as the loader does with the keys of an adds log.
//
//   live_keys publish DIRECTORY SNAPSHOT
//   live_keys add DIRECTORY SET KEY...
//   live_keys lose DIRECTORY SET                        the store has lost added keys
//   live_keys bypass DIRECTORY SET UNTIL                in the store; 0: without an end
//   live_keys look DIRECTORY SET AGO NEXT [TROUBLE]...  has looked AGO seconds ago, and will in NEXT seconds
//                                                       ("never": promises nothing)
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "core/builder/base/file_io.hpp"
#include "core/publisher/shm/bypass.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "core/worker/base/clock.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "core/worker/shm/set_reader.hpp"

namespace {

using namespace keysieve;

void publish_with_layer(const std::string& directory, const std::string& snapshot_path) {
  const MappedRegion file = map_file(snapshot_path);
  const auto snapshot = SnapshotView::decode(bytes_of(file), snapshot_path, Check::Everything);
  Publisher({.directory = directory}, snapshot.set_name())
      .publish(snapshot.bytes(), 0, NewLayer(layer_geometry_for(1'000, 0.01)));
}

void add_live_keys(const std::string& directory, const std::string& set_name,
                   const std::vector<std::string>& keys) {
  SetReader reader({.directory = directory}, set_name);
  reader.follow();
  const KeyHasher hasher = reader.attachment()->snapshot().hasher();
  const Publisher publisher({.directory = directory}, set_name);
  LayerWriter layer = publisher.open_layer().value();
  for (const std::string& key : keys) layer.add(hasher(key));
}

void look(const std::vector<std::string>& words) {
  const UnixSeconds now = unix_now();
  Publisher publisher({.directory = words[1]}, words[2]);
  publisher.beat(now - std::stoll(words[3]), words[4] == "never" ? 0 : now + std::stoll(words[4]));
  Troubles troubles;
  for (std::size_t i = 5; i < words.size(); ++i) {
    const auto* const found = std::find(kTroubleNames.begin(), kTroubleNames.end(), words[i]);
    if (found == kTroubleNames.end()) throw Error(ErrorKind::Usage, "no such trouble: " + words[i]);
    troubles.add(static_cast<Trouble>(found - kTroubleNames.begin()));
  }
  publisher.note(troubles);
}

bool run(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words[0];
  if (verb == "publish" && words.size() == 3) {
    publish_with_layer(words[1], words[2]);
  } else if (verb == "add" && words.size() > 3) {
    add_live_keys(words[1], words[2], {words.begin() + 3, words.end()});
  } else if (verb == "lose" && words.size() == 3) {
    Publisher({.directory = words[1]}, words[2]).mark_adds_lost(1);
  } else if (verb == "bypass" && words.size() == 4) {
    set_store_bypass(words[1], words[2], std::stoll(words[3]));
  } else if (verb == "look" && words.size() > 4) {
    look(words);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (run({argv + 1, argv + argc})) return 0;
    std::fputs("usage: see tests/support/live_keys_program.cpp\n", stderr);
    return 64;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "live_keys: %s\n", failure.what());
    return 1;
  }
}
