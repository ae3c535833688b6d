#include "core/publisher/seen/seen_writer.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/builder/base/file_io.hpp"
#include "core/builder/base/random.hpp"
#include "core/publisher/seen/new_segment.hpp"
#include "core/publisher/seen/seen_tags.hpp"
#include "core/publisher/shm/bypass.hpp"
#include "core/publisher/shm/new_pages.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

constexpr mode_t kPageMode = 0640;
constexpr const char* kNewPageName = "page.new";
constexpr const char* kAtWork = "another loader is at work on it";

// Everyone may enter the folder of all seen sets. Each set's own folder decides who may read.
SetFolder open_folder(const std::string& directory, std::string_view set_name, std::optional<gid_t> group) {
  const std::string all = seen_directory(directory);
  if (::mkdir(all.c_str(), 0755) != 0 && errno != EEXIST) throw_write_error(all, errno);
  if (::chmod(all.c_str(), 0755) != 0 && errno != EPERM) throw_write_error(all, errno);
  return open_or_create_folder(all, set_name, group);
}

// The bytes of a page without filters.
std::vector<std::byte> new_page(const HashSeed& seed, OnUnavailable on_unavailable) {
  const auto page = std::make_unique<SeenPage>();
  page->magic = kSeenMagic;
  page->endian_mark = kEndianMark;
  page->abi_major = kSeenAbiMajor;
  page->seed = seed;
  page->header_checksum = header_checksum(*page);
  page->on_unavailable = static_cast<std::uint32_t>(on_unavailable);
  std::vector<std::byte> bytes(sizeof *page);
  std::memcpy(bytes.data(), static_cast<const void*>(page.get()), sizeof *page);
  return bytes;
}

}  // namespace

SeenWriter::SeenWriter(const std::string& directory, std::string_view set_name, std::optional<gid_t> group,
                       CheckMemory check_memory, std::vector<FileDescriptor>* held)
    : folder_(open_folder(directory, set_name, group)),
      check_memory_(std::move(check_memory)),
      held_(held),
      path_(folder_.path_of(kSeenPageName)) {
  if (folder_.owner() != ::geteuid()) {
    throw Error(ErrorKind::NotTrusted, folder_.path() + ": belongs to uid " +
                                           std::to_string(folder_.owner()) + ", this loader runs as " +
                                           std::to_string(::geteuid()));
  }
  if constexpr (!kHasWideAtomics)
    throw Error(ErrorKind::Incompatible,
                folder_.path() + ": this processor has no atomic operation on 16 bytes");
  lock_ = open_to_lock(kLockName, O_RDWR | O_CREAT);
  take_lock(folder_, lock_, kAtWork);
}

std::vector<int> SeenWriter::locks() const {
  std::vector<int> all;
  for (const FileDescriptor* one : {&lock_, &page_lock_}) {
    if (one->is_open()) all.push_back(one->get());
  }
  return all;
}

// A file that is opened again would not have the lock.
FileDescriptor SeenWriter::open_to_lock(const std::string& name, int flags) {
  if (const auto file = folder_.status_of(name); file && held_ != nullptr) {
    for (FileDescriptor& one : *held_) {
      if (one.is_open() && identity_of(stat_of(one, path_)) == identity_of(*file)) return std::move(one);
    }
  }
  return folder_.open_file(name, flags);
}

void SeenWriter::open_page() {
  file_.reset();
  page_lock_ = open_to_lock(kSeenPageName, O_RDWR);  // closes the one before, whose lock is in the way
  if (!lock_page(page_lock_, path_)) throw Error(ErrorKind::Locked, path_ + ": locked: " + kAtWork);
  file_.emplace(page_lock_, path_);
}

bool SeenWriter::adopt() {
  filters_.clear();
  if (!has_page()) return false;
  try {
    open_page();
    check_seen_page(*file_, path_);
    if (!attach_all()) return false;
    // The folder may have another group than before.
    for (const OpenFilter& one : filters_) give_to_group(one.segment, group(), folder_.path());
  } catch (const Error& failure) {
    filters_.clear();
    lost_.clear();
    if (failure.kind() == ErrorKind::Data || failure.kind() == ErrorKind::Incompatible) return false;
    throw;
  }
  if (lost_.empty()) {
    sweep();
  } else {
    page().log.read_again();  // also for the next loader, if this one ends before it has
    show();
  }
  return true;
}

// False if the page is damaged. A filter whose memory is not there any more, or is another user's, is lost;
// what cannot be attached for another reason must not be replaced.
bool SeenWriter::attach_all() {
  const SeenState all = state();
  if (!all.is_possible()) return false;
  for (std::uint32_t number = all.first; number != all.end(); ++number) {
    const SeenEntry& of = slot(number);
    try {
      Segment segment = Segment::attach(of.segment_key, of.plan.segment_bytes(), ::geteuid(), folder_.path());
      const SeenFilter filter = filter_of(of, segment.bytes(), folder_.path());
      filters_.push_back({of.plan, of.begun_at, std::move(segment), filter});
    } catch (const Error& failure) {
      if (failure.kind() != ErrorKind::MissingInput && failure.kind() != ErrorKind::NotTrusted) throw;
      lost_.push_back(of.plan);
    }
  }
  return true;
}

gid_t SeenWriter::group() const {
  return stat_of(folder_.descriptor(), folder_.path()).st_gid;
}

void SeenWriter::create(const HashSeed& seed, OnUnavailable on_unavailable) {
  make_new_page(new_page(seed, on_unavailable));
  clear();
  replace_file(folder_, kNewPageName, kSeenPageName);
  open_page();
}

void SeenWriter::make_new_page(Bytes bytes) const {
  remove_file(folder_, kNewPageName);
  const FileDescriptor file = create_file(folder_, kNewPageName, kPageMode);
  try {
    write_all(file, bytes, folder_.path_of(kNewPageName));
  } catch (...) {
    remove_file(folder_, kNewPageName);  // others may need the room
    throw;
  }
}

// Both pages lead to the same segments for a moment, so it does not matter by which one a worker goes. One
// that has just won by the old page finds that its state has changed, opens the new page, and finds the
// segment there as the newest. A bypass that is set in the old page after the copy is set in the new one too,
// since set_seen_bypass() finds that the path does not lead to the old one.
void SeenWriter::take_over(SeenWriter& old) {
  SeenPage& from = old.page();
  make_new_page(std::as_bytes(std::span(&from, 1)));
  replace_file(folder_, kNewPageName, kSeenPageName);
  open_page();
  filters_ = std::exchange(old.filters_, {});
  lost_ = std::exchange(old.lost_, {});
  from.state.store(SeenState{.first = state().end()}.word(), std::memory_order_seq_cst);
  for (SeenEntry& entry : from.entries) store_key(entry.segment_key, 0);  // not the old page's any more
}

// Numbers go on, should a crash leave the page in use.
void SeenWriter::clear() noexcept {
  filters_.clear();
  if (!file_) return;
  show();
}

void SeenWriter::remove() {
  clear();
  for (const char* name : {kSeenPageName, kNewPageName, kLockName}) remove_file(folder_, name);
  if (::rmdir(folder_.path().c_str()) != 0) throw_write_error(folder_.path(), errno);
}

bool SeenWriter::is_in_place() const {
  return file_->found_at(path_) == MappedRegion::Found::This;
}

const OpenFilter* SeenWriter::next_window(const OpenFilter& one) const noexcept {
  const auto next = std::find_if(filters_.begin(), filters_.end(), [&](const OpenFilter& other) {
    return other.plan.window.ends > one.plan.window.ends;
  });
  return next == filters_.end() ? nullptr : &*next;
}

const OpenFilter* SeenWriter::find(const FilterId& id) const noexcept {
  const auto found = std::find_if(filters_.begin(), filters_.end(),
                                  [&](const OpenFilter& one) { return id_of(one.plan) == id; });
  return found == filters_.end() ? nullptr : &*found;
}

// The key is in a slot behind all that show() writes before there is a segment, so that adopt() can remove
// one that a crash has left.
OpenFilter SeenWriter::open(const SeenPlan& plan, BootSeconds now) {
  if (filters_.size() >= kMaxSeenFilters) {
    throw Error(ErrorKind::CannotCreate, folder_.path() + ": has " + std::to_string(filters_.size()) +
                                             " filters already, the most is " +
                                             std::to_string(kMaxSeenFilters));
  }
  if (check_memory_) check_memory_(plan.segment_bytes());
  const std::uint32_t first = state().end() + kMaxSeenFilters;
  std::uint32_t number = first;
  while (slot(number).segment_key != 0 && number != first + kMaxSeenFilters - 1) ++number;
  write(number, {plan, now, 0, 0});
  SeenEntry& entry = slot(number);
  Segment segment = create_segment(entry.segment_key, plan.segment_bytes(), group(), folder_.path());
  const SeenFilter filter = filter_of(entry, segment.bytes(), folder_.path());
  make_resident(segment);
  return {plan, now, std::move(segment), filter};
}

const OpenFilter& SeenWriter::make(const SeenPlan& plan, BootSeconds now) {
  filters_.reserve(filters_.size() + 1);
  OpenFilter made = open(plan, now);
  const auto place =
      std::upper_bound(filters_.begin(), filters_.end(), id_of(plan),
                       [](const FilterId& id, const OpenFilter& other) { return id < id_of(other.plan); });
  return *filters_.insert(place, std::move(made));
}

// Release: pairs with SeenPage::entry(). A worker that reads what is written here finds in `state`,
// too, that the entry it was looking for is gone.
void SeenWriter::write(std::uint32_t number, const SeenEntry& entry) const noexcept {
  using Word64 [[gnu::may_alias]] = std::uint64_t;
  const auto words =
      std::bit_cast<std::array<std::uint64_t, sizeof(SeenEntry) / sizeof(std::uint64_t)>>(entry);
  auto* to = reinterpret_cast<Word64*>(&slot(number));
  for (std::size_t i = 0; i < words.size(); ++i) __atomic_store_n(to + i, words[i], __ATOMIC_RELEASE);
}

// Entries that count are never written over: readers may be at them. Only `bypass` changes the word beside
// the loader.
void SeenWriter::show() noexcept {
  SeenState next = state();
  next.first = next.end();
  next.size = static_cast<std::uint16_t>(filters_.size());
  for (std::uint32_t i = 0; i < next.size; ++i)
    write(next.first + i, {filters_[i].plan, filters_[i].begun_at, filters_[i].segment.key(), 0});
  std::uint64_t expected = page().state.load();
  do {
    next.is_bypassed = SeenState::of(expected).is_bypassed;
  } while (!page().state.compare_exchange_weak(expected, next.word(), std::memory_order_seq_cst));
  sweep();
}

void SeenWriter::begin_later(std::size_t index, UnixSeconds begins, BootSeconds begun_at) noexcept {
  filters_[index].plan.window.begins = begins;
  filters_[index].begun_at = begun_at;
}

void SeenWriter::append(const SeenPlan& plan, BootSeconds now) {
  make(plan, now);
  show();
}

// Removes the segments of all entries but those that count, and only then forgets their keys: the next loader
// can go on after a crash.
void SeenWriter::sweep() const noexcept {
  const SeenState live = state();
  for (std::uint32_t number = live.end(); number != live.first + kSeenEntries; ++number) {
    const std::uint32_t key = slot(number).segment_key;
    if (key == 0) continue;
    const bool is_kept = std::any_of(filters_.begin(), filters_.end(),
                                     [&](const OpenFilter& one) { return one.segment.key() == key; });
    if (!is_kept) remove_segment(key);
    store_key(slot(number).segment_key, 0);
  }
}

// By the clock that cannot be set. A window usually ends when the next one begins. If the next one is older,
// because the other clock was ahead when it began, the window ends as planned.
BootSeconds SeenWriter::ended_since_boot(const OpenFilter& filter, const OpenFilter& next) noexcept {
  if (next.begun_at >= filter.begun_at) return next.begun_at;
  const SeenWindow& window = filter.plan.window;
  return filter.begun_at + std::max<std::int64_t>(window.ends - window.begins, 0);
}

std::size_t SeenWriter::retire(const Moment& now) noexcept {
  const auto has_expired = [&](const OpenFilter& one) {
    const OpenFilter* next = next_window(one);
    if (next == nullptr) return false;
    const std::int64_t kept_for = one.plan.window.kept_for;
    return *ended_at(one) + kept_for <= now.unix && ended_since_boot(one, *next) + kept_for <= now.boot;
  };
  const auto first_kept = std::find_if_not(filters_.begin(), filters_.end(), has_expired);
  const auto retired = static_cast<std::size_t>(first_kept - filters_.begin());
  if (retired == 0) return 0;
  filters_.erase(filters_.begin(), first_kept);
  show();
  return retired;
}

std::size_t SeenWriter::heal() {
  std::size_t healed = 0;
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    if (!is_removed(filters_[i].segment)) continue;
    replace_lost(i);
    ++healed;
  }
  return healed;
}

// Workers that have the lost one attached go on with it. If it is the newest, they must see another one
// behind it before its tags are copied: what they add to the lost one after that, they must win in the other
// too.
void SeenWriter::replace_lost(std::size_t index) {
  filters_.reserve(filters_.size() + 1);
  OpenFilter made = open(filters_[index].plan, filters_[index].begun_at);
  made.tags_sent = filters_[index].tags_sent;
  const auto lost = filters_.begin() + static_cast<std::ptrdiff_t>(index);
  const auto next = filters_.insert(lost + 1, std::move(made));
  show();
  copy_tags((next - 1)->filter, next->filter, next->sent(), (next - 1)->sent());
  filters_.erase(next - 1);
  show();
}

void SeenWriter::clear_expired_bypass(UnixSeconds now) noexcept {
  bypass_of(page()).clear_if_over(now);
}

void SeenWriter::set_on_unavailable(OnUnavailable answer) noexcept {
  page().on_unavailable.store(static_cast<std::uint32_t>(answer), std::memory_order_relaxed);
}

void SeenWriter::looked(UnixSeconds now, UnixSeconds next_look, const Troubles& troubles) noexcept {
  page().looked_at.store(now, std::memory_order_relaxed);
  page().next_look.store(next_look, std::memory_order_relaxed);
  page().troubles.store(troubles.word(), std::memory_order_relaxed);
}

void SeenWriter::leave(UnixSeconds now) noexcept {
  Troubles left;
  left.add(Trouble::NotConfigured);
  if (file_) looked(now, 0, left);
}

}  // namespace keysieve
