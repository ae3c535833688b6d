#include "tests/tools/loader/history/host.hpp"

#include <filesystem>

#include "core/publisher/shm/publisher.hpp"

namespace keysieve::test {

namespace fs = std::filesystem;

std::string key_text(int key) {
  return "key-" + std::to_string(key);
}

Host::Host(const std::string& root, const std::string& store_url) : root_(root), store_url_(store_url) {
  for (const char* folder : {"", "/shm", "/cache"}) fs::create_directory(root_ + folder);
  start();
  begin_reading();
}

void Host::start() {
  store_.emplace(store_opener(store_url_), "the store", Milliseconds(1000));
  LoaderConfig loader;
  loader.directory = root_ + "/shm";
  loader.cache = root_ + "/cache";
  SetConfig set;
  set.name = kHistorySet;
  set.guards.max_shrink = {};
  refresher_.emplace(set, loader, *store_, recorder_, [] { return true; });
}

void Host::reboot() {
  refresher_.reset();
  for (const auto& entry : fs::directory_iterator(root_ + "/shm")) fs::remove_all(entry);
  start();
  begin_reading();
}

const RefreshOutcome& Host::look() {
  now_ += std::chrono::hours(1);
  const RefreshOutcome& outcome = refresher_->refresh(now_);
  store_->close();
  return outcome;
}

void Host::publish_by_hand(Bytes snapshot) {
  Publisher publisher({.directory = root_ + "/shm"}, kHistorySet);
  if (!attached_build()) return;
  const auto layer = publisher.open_layer();
  if (!layer || layer->live_keys() == 0) publisher.publish(snapshot, 0);
}

bool Host::may_contain(int key, Process process) {
  reader(process).check_soon();
  const Attachment* attached = reader(process).follow();
  return !attached || attached->may_contain(attached->snapshot().hasher()(key_text(key)));
}

std::optional<BuildId> Host::attached_build(Process process) {
  reader(process).check_soon();
  const Attachment* attached = reader(process).follow();
  if (!attached) return std::nullopt;
  return attached->snapshot().header().build_id;
}

void Host::begin_reading() {
  ReaderSettings settings{
      .directory = root_ + "/shm", .trusted_owner = {}, .max_jitter = std::chrono::hours(1'000)};
  late_reader_.emplace(settings, kHistorySet);
  settings.max_jitter = {};
  reader_.emplace(settings, kHistorySet);
}

}  // namespace keysieve::test
