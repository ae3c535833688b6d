#include "core/publisher/shm/publisher.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/builder/base/file_io.hpp"
#include "core/publisher/shm/bypass.hpp"
#include "core/publisher/shm/memory_use.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/shm/attachment.hpp"

namespace keysieve {
namespace {

constexpr mode_t kControlMode = 0640;
constexpr mode_t kSnapshotMode = 0440;
constexpr mode_t kLiveMode = 0640;
constexpr std::string_view kTemporary = ".tmp";

std::string temporary(const std::string& name) {
  return name + std::string(kTemporary);
}
bool is_temporary(const std::string& name) {
  return name.ends_with(kTemporary);
}

void check_owner(const SetFolder& folder) {
  if (folder.owner() == ::geteuid()) return;
  throw Error(ErrorKind::NotTrusted, folder.path() + ": belongs to uid " + std::to_string(folder.owner()) +
                                         ": only that user may publish here, this is uid " +
                                         std::to_string(::geteuid()));
}

// Memory needs no fsync; on a disk a publication that has its name must also survive a crash.
void sync_unless_memory(const FileDescriptor& file, const std::string& path) {
  if (is_in_memory(file, path)) return;
  if (::fsync(file.get()) != 0) throw_write_error(path + ": cannot sync", errno);
}

// Files being made: removed again unless kept. Removes only files that this object has created, because after
// a lost lock another publisher may work under the same names.
class NewFiles {
 public:
  explicit NewFiles(const SetFolder& folder) : folder_(folder) {}
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles() {
    for (const std::string& name : names_) ::unlinkat(folder_.descriptor().get(), name.c_str(), 0);
  }

  // Writes the parts one after the other.
  void write(const std::string& name, std::initializer_list<Bytes> parts, mode_t mode) {
    const FileDescriptor file = create(name, mode);
    for (const Bytes part : parts) write_all(file, part, folder_.path_of(name));
    sync_unless_memory(file, folder_.path_of(name));
  }

  // Each piece of the shards is read back and checked as soon as it is written, while it is in the
  // processor's caches: checking everything afterwards makes this take half as long again.
  void write_snapshot(const std::string& name, const SnapshotView& snapshot, std::string_view source) {
    const FileDescriptor file = create(name, kSnapshotMode);
    const std::string path = folder_.path_of(name);
    const Bytes bytes = snapshot.bytes();
    // A tmpfs with huge=within_size must know the size before the first byte is written.
    if (::ftruncate(file.get(), static_cast<off_t>(bytes.size())) != 0) throw_write_error(path, errno);
    write_all(file, bytes.first(snapshot.header().shards.offset), path);
    std::vector<std::byte> written;
    for (std::uint64_t i = 0; i < snapshot.shards().shard_count;) {
      const Bytes shards = snapshot.some_shards(i);
      write_all(file, shards, path);
      written.resize(shards.size());
      read_all_at(file, static_cast<std::uint64_t>(shards.data() - bytes.data()), written, path);
      snapshot.check_shards(i, written, source);
      i += shards.size() / snapshot.shards().stride;
    }
    sync_unless_memory(file, path);
  }

  void rename(const std::string& from, const std::string& to) {
    rename_file(folder_, from, to);
    std::replace(names_.begin(), names_.end(), from, to);
  }

  void keep() noexcept { names_.clear(); }

 private:
  FileDescriptor create(const std::string& name, mode_t mode) {
    FileDescriptor file = create_file(folder_, name, mode);
    names_.push_back(name);
    return file;
  }

  const SetFolder& folder_;
  std::vector<std::string> names_;
};

void create_control(const SetFolder& folder) {
  const std::string name = temporary(kControlName);
  remove_file(folder, name);
  NewFiles files(folder);
  files.write(name, {new_control_page()}, kControlMode);
  remove_file(folder, kControlName);
  files.rename(name, kControlName);
  files.keep();
}

constexpr const char* kAside = "control.old";  // php/src/Build/Publication.php

// A publisher in PHP that was killed has left the page under another name, perhaps with a bypass.
void put_back_control(const SetFolder& folder) {
  if (!folder.status_of(kControlName) && folder.status_of(kAside)) rename_file(folder, kAside, kControlName);
}

// A damaged control page is replaced, since no reader trusts it either. One that cannot be opened (out of
// descriptors, for example) is not, because readers have it mapped.
MappedPage<ControlPage> open_or_create_control(const SetFolder& folder, FileDescriptor& file) {
  const auto open = [&] {
    file = folder.open_file(kControlName, O_RDWR);
    return open_control_page<ControlPage>(folder, file);
  };
  put_back_control(folder);
  try {
    if (folder.status_of(kControlName)) return open();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data) throw;
  }
  create_control(folder);
  return open();
}

}  // namespace

Publisher::Publisher(PublisherSettings settings, std::string_view set_name)
    : settings_(std::move(settings)),
      set_name_(set_name),
      folder_(open_or_create_folder(settings_.directory, set_name, settings_.group)) {
  check_owner(folder_);
  lock_ = folder_.open_file(kLockName, O_RDWR | O_CREAT);
  take_lock(folder_, lock_, "another publisher is at work on set " + set_name_);
  take_control();
}

std::uint64_t Publisher::publish(Bytes snapshot, std::uint64_t generation, const NewLayer& layer) {
  const std::string source = "snapshot for " + folder_.path();
  const SnapshotView view = SnapshotView::decode(snapshot, source, Check::Tables);
  view.check_set_name(set_name_, source);
  const auto control = stat_of(control_lock_, folder_.path_of(kControlName));
  if (control.st_nlink == 0) take_control();  // readers would not see the old one
  const std::uint64_t replaced = current().publication;
  const PublicationStamp stamp{.instance = control_->page().instance,
                               .publication = next_publication(),
                               .generation = generation,
                               .published_at = unix_now(),
                               .layer = layer.geometry(),
                               .seed = view.header().seed,
                               .live_keys = layer.live_keys()};
  remove_leftovers();
  check_room(snapshot.size() + sizeof(LivePage) + layer.bytes().size());

  const std::string snapshot_name = snapshot_file_name(stamp.publication);
  const std::string live_name = live_file_name(stamp.publication);
  NewFiles files(folder_);
  files.write(temporary(live_name), {new_live_page(stamp), layer.bytes()}, kLiveMode);
  files.write_snapshot(temporary(snapshot_name), view, source);
  // Throws unless a reader would accept it.
  const Attachment attachment(folder_, {temporary(snapshot_name), temporary(live_name)}, set_name_,
                              {stamp.instance, stamp.publication});
  check_lock(folder_, lock_);
  files.rename(temporary(live_name), live_name);
  files.rename(temporary(snapshot_name), snapshot_name);
  sync_unless_memory(folder_.descriptor(), folder_.path());
  make_current(stamp.publication, replaced);
  files.keep();
  return stamp.publication;
}

PublicationId Publisher::current() const noexcept {
  const ControlPage& page = control_->page();
  return {page.instance, publication_of(page.current.load(std::memory_order_relaxed))};
}

bool Publisher::mark_damaged() noexcept {
  return (control_->page().current.fetch_or(kDamagedBit) & kDamagedBit) == 0;
}

void Publisher::mark_adds_lost(std::uint64_t up_to_ms) noexcept {
  control_->page().adds_lost_to_ms.store(up_to_ms, std::memory_order_relaxed);
  if (!adds_lost_to_ms()) control_->page().current.fetch_or(kAddsLostBit);
}

void Publisher::forget_lost_adds() noexcept {
  if (adds_lost_to_ms()) control_->page().current.fetch_and(~kAddsLostBit);
}

std::optional<std::uint64_t> Publisher::adds_lost_to_ms() const noexcept {
  const ControlPage& page = control_->page();
  if ((page.current.load(std::memory_order_relaxed) & kAddsLostBit) == 0) return std::nullopt;
  return page.adds_lost_to_ms.load(std::memory_order_relaxed);
}

std::optional<UnixSeconds> Publisher::store_bypass() const noexcept {
  const PageBypass bypass = bypass_of(control_->page(), kStoreBypass);
  return (bypass.word.load() & bypass.bit) != 0 ? std::optional(bypass.until.load()) : std::nullopt;
}

std::optional<LayerWriter> Publisher::open_layer() const {
  const PublicationId live = current();
  if (live.publication == 0) return std::nullopt;
  auto page = open_live_page<LivePage>(folder_, live_file_name(live.publication), live);
  if (page.page().layer_shard_count == 0) return std::nullopt;
  return LayerWriter(std::move(page));
}

void Publisher::confirm(UnixSeconds now) noexcept {
  control_->page().last_confirmed.store(now, std::memory_order_relaxed);
}

void Publisher::beat(UnixSeconds now, UnixSeconds next_look) noexcept {
  ControlPage& page = control_->page();
  page.heartbeat.store(now, std::memory_order_relaxed);
  page.next_look.store(next_look, std::memory_order_relaxed);
}

void Publisher::note(const Troubles& troubles) noexcept {
  control_->page().troubles.store(troubles.word(), std::memory_order_relaxed);
}

void Publisher::leave() {
  if (remove_if_unused()) return;
  Troubles left;
  left.add(Trouble::NotConfigured);
  note(left);
  beat(0);
}

// Once the control page has another name, set_bypass fails; a bypass from before is seen here.
bool Publisher::remove_if_unused() {
  const std::vector<std::string> names = file_names(folder_);
  const auto is_needless = [](const std::string& name) { return name == kLockName || name == kControlName; };
  if (!std::all_of(names.begin(), names.end(), is_needless)) return false;
  if (control_->page().current.load() != 0) return false;
  const std::string aside = temporary(kControlName);
  rename_file(folder_, kControlName, aside);
  if (control_->page().current.load() != 0) {
    rename_file(folder_, aside, kControlName);
    return false;
  }
  for (const std::string& name : {aside, std::string(kLockName)}) remove_file(folder_, name);
  if (::rmdir(folder_.path().c_str()) != 0) throw_write_error(folder_.path(), errno);
  return true;
}

void Publisher::clear_expired_bypass(UnixSeconds now) noexcept {
  for (const BypassSwitch& bypass : kBypassSwitches) bypass_of(control_->page(), bypass).clear_if_over(now);
}

// While this publisher is not looking, the lock file may be removed and another one locked. A replaced
// control page cannot go unnoticed, so every process that writes to the page holds it as well.
void Publisher::take_control() {
  FileDescriptor file;
  auto control = open_or_create_control(folder_, file);
  if (!lock_page(file, folder_.path_of(kControlName))) {
    throw Error(ErrorKind::Locked,
                folder_.path_of(kControlName) + ": locked: another publisher is at work on set " + set_name_);
  }
  remove_file(folder_, kAside);  // of a publisher in PHP that was killed after it had made the new page
  control_ = std::move(control);
  control_lock_ = std::move(file);
}

std::uint64_t Publisher::next_publication() const {
  std::uint64_t highest = current().publication;
  for (const std::string& name : file_names(folder_)) {
    highest = std::max(highest, publication_of_file(name).value_or(0));
  }
  return highest + 1;
}

// Keeps only the current publication: a reader that has yet to attach an older one looks again when it is
// gone. Publications above the current one were never current: their publisher died before the last step.
void Publisher::remove_leftovers() const {
  const std::uint64_t kept = current().publication;
  for (const std::string& name : file_names(folder_)) {
    const auto publication = publication_of_file(name);
    if (publication && (is_temporary(name) || *publication != kept)) remove_file(folder_, name);
  }
}

// After the leftovers have made room.
void Publisher::check_room(std::uint64_t new_bytes) const {
  check_total_size(new_bytes);
  if (settings_.check_memory && is_in_memory(folder_.descriptor(), folder_.path()))
    settings_.check_memory(new_bytes);
}

void Publisher::check_total_size(std::uint64_t new_bytes) const {
  if (settings_.max_total_bytes == 0) return;
  // Usually enough, and does not look at each of thousands of sets for each that is published.
  const auto most = tmpfs_used_bytes(settings_.directory);
  if (most && *most + new_bytes <= settings_.max_total_bytes) return;
  const MemoryUse use = memory_use(settings_.directory);
  const std::uint64_t pinned = use.pinned_bytes.value_or(0);
  if (use.visible_bytes + pinned + new_bytes <= settings_.max_total_bytes) return;
  throw Error(ErrorKind::CannotCreate,
              settings_.directory + ": set " + set_name_ + ": publishing " + std::to_string(new_bytes) +
                  " bytes next to " + std::to_string(use.visible_bytes) + " visible and " +
                  std::to_string(pinned) + " pinned bytes would exceed the limit of " +
                  std::to_string(settings_.max_total_bytes) +
                  " bytes: restart idle PHP workers to free what they pin, or raise max_total_size");
}

// Release: pairs with the acquire in SetReader::follow_current, so a reader that sees the number finds both
// files complete. The two bypass bits belong to an operator and to the store, and lost adds are lost whatever
// is published, so these bits are carried over; the damaged bit is not.
void Publisher::make_current(std::uint64_t publication, std::uint64_t replaced) const {
  std::atomic<std::uint64_t>& current = control_->page().current;
  std::uint64_t word = current.load(std::memory_order_relaxed);
  do {
    if (publication_of(word) != replaced) {
      throw Error(ErrorKind::Locked, folder_.path_of(kControlName) +
                                         ": another publisher has moved it to publication " +
                                         std::to_string(publication_of(word)));
    }
  } while (!current.compare_exchange_weak(word, (word & (kBypassBits & ~kDamagedBit)) | publication,
                                          std::memory_order_release, std::memory_order_relaxed));
}

}  // namespace keysieve
