#include "tests/tools/loader/site.hpp"

#include <filesystem>
#include <fstream>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/chunk.hpp"
#include "tools/transfer/rollback.hpp"

namespace keysieve::test {

std::string key_number(int number) {
  return "key-" + std::to_string(number);
}

SnapshotBytes build_snapshot(const std::string& set_name, KeyRange keys, UnixSeconds as_of, double target_fpr,
                             const LogPosition& adds_from, const Signer* signer) {
  BuildSettings settings;
  settings.signer = signer;
  settings.set_name = set_name;
  settings.target_fpr = target_fpr;
  settings.as_of = as_of;
  settings.adds_from = adds_from;
  settings.seed = {42};
  SnapshotBuilder builder(settings);
  for (int i = 0; i < keys.count; ++i) builder.add(key_number(keys.first + i));
  return builder.finish();
}

SnapshotBytes build_with_known_absent(const std::string& set_name, KeyRange keys, KeyRange known_absent) {
  BuildSettings settings;
  settings.set_name = set_name;
  settings.as_of = 1'700'001'000;
  settings.seed = {42};
  settings.has_known_absent = true;
  SnapshotBuilder builder(settings);
  for (int i = 0; i < keys.count; ++i) builder.add(key_number(keys.first + i));
  for (int i = 0; i < known_absent.count; ++i) {
    const std::string key = key_number(known_absent.first + i);
    const std::string_view given = key;
    builder.add_known_absent(0, {&given, 1});
  }
  return builder.finish();
}

Site::Site() {
  std::filesystem::create_directory(directory());
  std::filesystem::create_directory(cache());
  open_store(store_url());  // makes it: the loader does not
}

void Site::write(const std::string& name, const std::string& text) const {
  const std::filesystem::path path(root_ / name);
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

void Site::configure(const std::string& rest, const std::string& url,
                     const std::string& poll_interval) const {
  write("keysieve.toml", "directory = \"" + directory() + "\"\ncache = \"" + cache() +
                             "\"\npoll_interval = \"" + poll_interval + "\"\n[store.main]\nurl = \"" + url +
                             "\"\n" + rest);
}

SnapshotRecord Site::push(const std::string& set_name, KeyRange keys, const std::string& url, double fpr) {
  return push_snapshot(build_snapshot(set_name, keys, as_of_++, fpr), url);
}

SnapshotRecord Site::push_after_adds(const std::string& set_name, KeyRange keys, const std::string& url) {
  const auto store = open_store(url);
  const LogPosition from = store->end_of(adds_log(*store, set_name));
  return push_snapshot(build_snapshot(set_name, keys, as_of_++, 0.01, from), url);
}

SnapshotRecord Site::push_snapshot(const SnapshotBytes& snapshot, const std::string& url) const {
  const SnapshotView view = SnapshotView::decode(snapshot.get(), "test", Check::Everything);
  const auto store = open_store(url);
  return keysieve::push(*store, view, Guards{.min_keys = 0, .max_shrink = {}}).record;
}

void Site::add(const std::string& set_name, KeyRange keys, const std::string& url) const {
  const auto store = open_store(url);
  std::vector<std::string> names;
  for (int i = 0; i < keys.count; ++i) names.push_back(key_number(keys.first + i));
  store->append(adds_log(*store, set_name), names);
}

SnapshotRecord Site::roll_back(const std::string& set_name, const std::string& url) const {
  const auto store = open_store(url);
  const std::uint64_t before = read_pointer(*store, set_name)->previous.at(0).generation;
  return rollback(*store, set_name, plan_rollback(*store, set_name, before)).record;
}

void Site::damage(const std::string& set_name, const SnapshotRecord& record) const {
  const auto store = open_store(store_url());
  const std::string key = chunk_key(store->prefix(), set_name, record.push_id, 0);
  std::string chunk = store->get(key).value();
  chunk.at(chunk.size() / 2) ^= 1;
  const Record damaged{key, chunk};
  store->put_many({&damaged, 1});
}

void Site::wipe_shared_memory() const {
  for (const auto& entry : std::filesystem::directory_iterator(directory())) {
    std::filesystem::remove_all(entry);
  }
}

// A file stands in its place, so that nobody makes a new one.
void Site::remove_store() const {
  std::filesystem::remove_all(root_ / "store");
  write("store", "not a folder");
}

std::optional<LivePublication> Site::live(const std::string& set_name) const {
  return live_publication(directory(), set_name);
}

std::uint64_t Site::live_generation(const std::string& set_name) const {
  const auto found = live(set_name);
  return found ? found->generation : 0;
}

bool Site::knows(const std::string& set_name, KeyRange keys) const {
  SetReader reader({.directory = directory(), .max_jitter = std::chrono::milliseconds(0)}, set_name);
  const Attachment* attached = reader.follow();
  if (!attached) return false;
  const KeyHasher& hasher = attached->snapshot().hasher();
  for (int i = 0; i < keys.count; ++i) {
    if (!attached->may_contain(hasher(key_number(keys.first + i)))) return false;
  }
  return true;
}

}  // namespace keysieve::test
