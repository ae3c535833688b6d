#include <algorithm>
#include <array>
#include <filesystem>

#include "core/builder/base/log_positions.hpp"
#include "core/builder/snapshot/builder.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "tests/faults/power_loss.hpp"
#include "tools/loader/adds/adds_mirror.hpp"
#include "tools/loader/config/private_cache.hpp"
#include "tools/loader/refresh/set_cache.hpp"
#include "tools/loader/refresh/set_refresher.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {
namespace {

// --- the adds mirror

LogPosition position_of(int number) {
  return log_position(static_cast<std::uint64_t>(number) + 2, 0);
}

std::string mirror_path(const Places& places) {
  return places.disk + "/tags.adds";
}

void add_to_mirror(const Places& places, Acknowledged& acknowledged, int part) {
  prepare_cache(places.disk);
  AddsMirror mirror(mirror_path(places));
  mirror.load();
  for (int number = 0; number < kOfSecondPart; ++number) {  // what part 0 has left is known from now on
    if (mirror.count_after(position_of(number - 1)) != mirror.count_after(position_of(number)))
      acknowledged.add({number, position_of(number)});
  }
  const auto add = [&](int of_part) {
    const int number = part * kOfSecondPart + of_part;
    const LogEntry entry{position_of(number), logged_key(number)};
    mirror.merge(std::span(&entry, 1));
    mirror.save();
    acknowledged.add({number, entry.position});
  };
  for (const int number : {0, 1, 4, 5}) add(number);
  add(2);  // which comes late, so that the file is written anew
  acknowledged.add({kTrimmed, position_of(part * kOfSecondPart)});
  mirror.trim(position_of(part * kOfSecondPart));
  mirror.save();
  for (const int number : {6, 7}) add(number);
}

std::string wrong_in_mirror(const AddsMirror& mirror, Acknowledgements acknowledged) {
  std::vector<std::string> found;
  mirror.visit_after({}, [&](std::string_view key) { found.emplace_back(key); });
  return wrong_in(found, acknowledged);
}

std::string check_mirror(const Places& places, Acknowledgements acknowledged) {
  AddsMirror mirror(mirror_path(places));
  mirror.load();
  std::string wrong = wrong_in_mirror(mirror, acknowledged);
  if (!wrong.empty()) return wrong;
  const LogEntry entry{position_of(kLastNumber), logged_key(kLastNumber)};
  mirror.merge(std::span(&entry, 1));
  mirror.save();
  AddsMirror again(mirror_path(places));
  again.load();
  if (again.count_after(position_of(kLastNumber - 1)) != 1) return "lost what was saved after";
  return wrong_in_mirror(again, acknowledged);
}

// --- the cache

// The generations of a store that counts up, then those of another one that counts from 1.
constexpr std::array<std::uint64_t, 5> kCachedGenerations{7, 8, 9, 1, 2};

// What is acknowledged by the next two stories: two numbers that only rise.
constexpr int kFirst = 0;
constexpr int kSecond = 1;
Acknowledgement at_least(int which, int number) {
  return {2 * number + which};
}
std::string wrong_number(int first, int second, Acknowledgements acknowledged) {
  const std::string found = std::to_string(first) + " and " + std::to_string(second);
  for (const Acknowledgement& one : acknowledged) {
    if (one.what / 2 > (one.what % 2 == kFirst ? first : second))
      return found + ", but one of them had been " + std::to_string(one.what / 2);
  }
  return "";
}

constexpr PublicKey kSigner{1};

// The number of the snapshot that a loader would publish; -1 if there is none.
int cached_number(const Places& places) {
  const auto cached = SetCache(places.disk, "tags").load();
  if (!cached) return -1;
  const int number = number_of(cached->bytes);
  const std::uint64_t expected = kCachedGenerations.at(static_cast<std::size_t>(number) % kOfSecondPart);
  if (cached->generation != expected) throw std::runtime_error("another generation than was saved");
  return number;
}

int cached_moment(const Places& places) {
  SetCache by_records(places.disk, "tags");
  by_records.read_seen();
  SetCache by_signature(places.disk, "tags", {kSigner});
  by_signature.read_seen();
  return static_cast<int>(std::min(by_records.newest(), by_signature.newest()).as_of);
}

void save_in_cache(const Places& places, Acknowledged& acknowledged, int part) {
  prepare_cache(places.disk);
  if (const int number = cached_number(places); number >= 0) acknowledged.add(at_least(kFirst, number));
  acknowledged.add(at_least(kSecond, cached_moment(places)));
  SetCache cache(places.disk, "tags", {kSigner});
  for (std::size_t at = 0; at < kCachedGenerations.size(); ++at) {
    const int number = part * kOfSecondPart + static_cast<int>(at);
    cache.save(kCachedGenerations[at], generation(number).get());
    acknowledged.add(at_least(kFirst, number));
    cache.has_seen({{number, 0}, {}});
    cache.has_seen({{number, number}, kSigner});
    cache.save_seen();
    acknowledged.add(at_least(kSecond, number));
  }
}

std::string check_cache(const Places& places, Acknowledgements acknowledged) {
  return wrong_number(cached_number(places), cached_moment(places), acknowledged);
}

// --- a host as a whole

constexpr UnixSeconds kFirstAsOf = 1'700'000'000;

std::string numbered_key(int number) {
  return "added-" + std::to_string(number);
}

// The loader and a worker. The cache is on the disk, all else in memory.
class RestartedHost {
 public:
  explicit RestartedHost(const Places& places) : url_("dir:" + places.memory + "/store") {
    std::filesystem::create_directory(places.memory + "/shm");
    loader_.directory = places.memory + "/shm";
    loader_.cache = places.disk + "/cache";
    prepare_cache(loader_.cache);
    SetConfig set;
    set.name = "tags";
    set.guards.max_shrink = {};
    ReaderSettings reader{.directory = loader_.directory, .trusted_owner = {}};
    reader_.emplace(reader, "tags");
    refresher_.emplace(set, loader_, store_, [] { return true; });
  }

  void look() {
    now_ += std::chrono::hours(1);  // past every backoff
    live_ = refresher_->refresh(now_).live;
    store_.close();
  }
  // The number of the build that a worker sees, or that is live behind a maybe for all keys; -1: none.
  int build() {
    if (const Attachment* found = attached())
      return static_cast<int>(found->snapshot().header().as_of - kFirstAsOf);
    const bool is_bypassed = reader_->availability() == Availability::Bypassed;
    return is_bypassed && live_ ? static_cast<int>(live_->as_of - kFirstAsOf) : -1;
  }
  // The number of the last key up to which a worker sees all. All of them if it sees nothing: then they are
  // maybe.
  int last_key() {
    int last = -1;
    while (last < kLastNumber && may_contain(last + 1)) ++last;
    return last;
  }

 private:
  const Attachment* attached() {
    reader_->check_soon();
    return reader_->follow();
  }
  bool may_contain(int key) {
    const Attachment* found = attached();
    return !found || found->may_contain(found->snapshot().hasher()(numbered_key(key)));
  }

  std::string url_;
  LoaderConfig loader_;
  StoreConnection store_{store_opener(url_), "the store", Milliseconds(1000)};
  std::optional<SetRefresher> refresher_;
  std::optional<SetReader> reader_;
  std::optional<LivePublication> live_;
  SteadyTime now_{std::chrono::hours(1)};
};

// Keys are added one after the other, and each build has all that were added.
class Writer {
 public:
  Writer(const Places& places, int part)
      : folder_(places.memory + "/store"), build_(part * kOfSecondPart), key_(part * kOfSecondPart) {}

  int add() {
    const auto store = open();
    const std::string key = numbered_key(key_);
    store->append(adds_log(*store, "tags"), std::span(&key, 1));
    return key_++;
  }
  int push() {
    const auto store = open();
    BuildSettings settings;
    settings.set_name = "tags";
    settings.as_of = kFirstAsOf + build_;
    settings.seed = {42};
    settings.adds_from = store->end_of(adds_log(*store, "tags"));
    SnapshotBuilder builder(settings);
    builder.add("a key of the first build");
    for (int key = 0; key < key_; ++key) builder.add(numbered_key(key));
    const SnapshotBytes snapshot = builder.finish();
    keysieve::push(*store, SnapshotView::decode(snapshot.get(), "test", Check::Tables),
                   Guards{.min_keys = 1, .max_shrink = {}});
    return build_++;
  }
  void lose_store() const { std::filesystem::remove_all(folder_); }

 private:
  [[nodiscard]] std::unique_ptr<Store> open() const { return open_store("dir:" + folder_); }
  std::string folder_;
  int build_;
  int key_;
};

void follow_store(const Places& places, Acknowledged& acknowledged, int part) {
  Writer writer(places, part);
  RestartedHost host(places);
  const auto look = [&] {
    host.look();
    if (host.build() < 0) return;
    acknowledged.add(at_least(kFirst, host.build()));
  };
  const auto add = [&] {
    const int key = writer.add();
    look();
    if (host.last_key() < key) throw std::runtime_error("a key was not received");
    acknowledged.add(at_least(kSecond, key));
  };
  const auto push = [&] {
    writer.push();
    look();
  };
  look();
  push();
  add();
  add();
  for (int pushes = 0; pushes < 4; ++pushes) push();  // so that the log is trimmed
  add();
  writer.lose_store();
  push();  // with a lower generation
  push();  // which was begun after the loss
  add();
}

// Without the store, and after the reboot that a power loss is.
std::string check_host(const Places& places, Acknowledgements acknowledged) {
  RestartedHost host(places);
  host.look();
  return wrong_number(host.build(), host.last_key(), acknowledged);
}

}  // namespace

// A story can spare a sync that only a kill needs, or that another sync follows before anything is
// acknowledged. A host can also spare syncs of the moments, which the story of the cache checks, and of known
// losses, since it has all keys here.
Story mirror_story() {
  return {"adds_mirror", add_to_mirror, check_mirror, 1, 4};
}

Story cache_story() {
  return {"cache", save_in_cache, check_cache, 5, 3};
}

Story host_story() {
  return {"host", follow_store, check_host, 28, 22};
}

}  // namespace keysieve::test
