#include <algorithm>

#include "core/worker/base/error.hpp"
#include "tests/faults/power_loss.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/transfer/rollback.hpp"

namespace keysieve::test {
namespace {

const std::string kLog = "keysieve:tags:adds";
constexpr std::size_t kAllEntries = 1000;

bool is_logged_key(const std::string& key) {
  for (int number = 0; number <= kLastNumber; ++number) {
    if (key == logged_key(number)) return true;
  }
  return false;
}

void add_to_store(const std::string& url, Acknowledged& acknowledged, int part) {
  const auto store = open_store(url);
  LogPosition first{};
  const auto add = [&](int of_part) {
    const int number = part * kOfSecondPart + of_part;
    const std::string key = logged_key(number);
    const LogPosition position = store->append(kLog, std::span(&key, 1));
    acknowledged.add({number, position});
    if (first == LogPosition{}) first = position;
  };
  for (const int number : {0, 1, 2}) add(number);
  acknowledged.add({kTrimmed, first});
  store->trim(kLog, first);
  for (const int number : {3, 4}) add(number);
}

std::string wrong_in_store(Store& store, Acknowledgements acknowledged) {
  std::vector<std::string> found;
  LogPosition last{};
  for (const LogEntry& entry : store.read_after(kLog, {}, kAllEntries)) {
    if (entry.position <= last) return "positions do not rise";
    last = entry.position;
    found.push_back(entry.key);
  }
  for (const Acknowledgement& one : acknowledged) {
    if (store.end_of(kLog) < one.position) return "gives out a position again";
  }
  return wrong_in(found, acknowledged);
}

// A loader reads first, then another key is added.
std::string check_adds(const std::string& url, Acknowledgements acknowledged) {
  if (!acknowledged.empty()) {
    const std::string wrong = wrong_in_store(*open_store(url, IfMissing::Refuse), acknowledged);
    if (!wrong.empty()) return wrong;
  }
  const auto store = open_store(url);
  const std::string next = logged_key(kLastNumber);
  store->append(kLog, std::span(&next, 1));
  if (store->read_after(kLog, {}, kAllEntries).back().key != next) return "lost what was added after";
  return wrong_in_store(*store, acknowledged);
}

void push_to_store(const std::string& url, Acknowledged& acknowledged, int part) {
  constexpr int kPushes = 8;  // more than a store keeps
  const auto store = open_store(url);
  for (int number = part * kOfSecondPart; number < part * kOfSecondPart + kPushes; ++number) {
    keysieve::push(*store, view_of(generation(number)), {});
    acknowledged.add({number});
  }
}

std::string wrong_generation_in(Store& store, int last) {
  const int found = number_of(pull(store, "tags").snapshot);
  if (found < last) return "generation " + std::to_string(found) + " instead of " + std::to_string(last);
  const PointerRecord pointer = read_pointer(store, "tags").value();
  if (pointer.previous.empty()) return "";
  rollback(store, "tags", plan_rollback(store, "tags", pointer.previous.back().generation));
  return number_of(pull(store, "tags").snapshot) < 0 ? "rolled back to something else" : "";
}

std::string check_pushes(const std::string& url, Acknowledgements acknowledged) {
  const auto store = open_store(url);
  if (!acknowledged.empty()) {
    const std::string wrong = wrong_generation_in(*store, acknowledged.back().what);
    if (!wrong.empty()) return wrong;
  }
  const SnapshotBytes& next = generation(kLastNumber);
  keysieve::push(*store, view_of(next), {});
  return number_of(pull(*store, "tags").snapshot) == kLastNumber ? ""
                                                                 : "pulls something else than is pushed next";
}

// A power loss while LMDB makes its file may leave one that it refuses. There is nothing in it.
bool is_refused(const std::string& url, Acknowledgements acknowledged) {
  try {
    open_store(url);
    return false;
  } catch (const Error& error) {
    if (!acknowledged.empty() || error.kind() != ErrorKind::Data) throw;
    return true;
  }
}

Story store_story(const char* name, const std::string& scheme,
                  void (*work)(const std::string& url, Acknowledged& acknowledged, int part),
                  std::string (*check)(const std::string& url, Acknowledgements acknowledged),
                  unsigned calls_between_kills, std::size_t spare_syncs) {
  const auto url_in = [scheme](const Places& places) { return scheme + ":" + places.disk + "/store"; };
  return {name,
          [=](const Places& places, Acknowledged& acknowledged, int part) {
            work(url_in(places), acknowledged, part);
          },
          [=](const Places& places, Acknowledgements acknowledged) {
            const std::string url = url_in(places);
            return is_refused(url, acknowledged) ? "" : check(url, acknowledged);
          },
          calls_between_kills, spare_syncs};
}

}  // namespace

std::string logged_key(int number) {
  const std::string name = "key-" + std::to_string(number);
  return number % 3 == 2 ? name + std::string(1500, '.') : name;
}

std::string wrong_in(std::span<const std::string> found, Acknowledgements acknowledged) {
  for (const std::string& key : found) {
    if (!is_logged_key(key)) return "a key that was never added: " + key.substr(0, 20);
  }
  LogPosition trimmed{};
  for (const Acknowledgement& one : acknowledged) {
    if (one.what == kTrimmed) trimmed = one.position;
  }
  for (const Acknowledgement& one : acknowledged) {
    const bool is_needed = one.what != kTrimmed && one.position > trimmed;
    if (is_needed && std::find(found.begin(), found.end(), logged_key(one.what)) == found.end())
      return "lost the key " + std::to_string(one.what);
  }
  return "";
}

const SnapshotBytes& generation(int number) {
  constexpr std::uint32_t kShardsOfFiveChunks = 75;  // which a dir: store syncs together
  static const auto all = [] {
    std::vector<SnapshotBytes> snapshots;
    for (int i = 0; i <= kLastNumber; ++i) {
      const std::uint32_t shard_count = i % 2 == 0 ? 3 : kShardsOfFiveChunks;
      snapshots.push_back(build_snapshot({.shard_count = shard_count}));
    }
    return snapshots;
  }();
  return all.at(static_cast<std::size_t>(number));
}

int number_of(const SnapshotBytes& snapshot) {
  for (int number = 0; number <= kLastNumber; ++number) {
    if (as_text(generation(number).get()) == as_text(snapshot.get())) return number;
  }
  return -1;
}

Story adds_story(const char* name, const std::string& scheme, unsigned calls_between_kills,
                 std::size_t spare_syncs) {
  return store_story(name, scheme, add_to_store, check_adds, calls_between_kills, spare_syncs);
}

Story push_story(const char* name, const std::string& scheme, unsigned calls_between_kills,
                 std::size_t spare_syncs) {
  return store_story(name, scheme, push_to_store, check_pushes, calls_between_kills, spare_syncs);
}

}  // namespace keysieve::test
