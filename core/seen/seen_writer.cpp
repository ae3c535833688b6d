#include "core/seen/seen_writer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.hpp"

namespace keysieve {
namespace {

constexpr mode_t kPageMode = 0640;
constexpr const char* kNewPageName = "page.new";

// Everyone may enter the folder of all seen sets. Each set's own folder decides who may read.
PublisherFolder open_folder(const std::string& directory, std::string_view set_name,
                            std::optional<gid_t> group) {
  const std::string all = seen_directory(directory);
  if (::mkdir(all.c_str(), 0755) != 0 && errno != EEXIST) throw_write_error(all, errno);
  if (::chmod(all.c_str(), 0755) != 0 && errno != EPERM) throw_write_error(all, errno);
  return PublisherFolder::open_or_create(all, set_name, group);
}

}  // namespace

SeenWriter::SeenWriter(const std::string& directory, std::string_view set_name, std::optional<gid_t> group)
    : folder_(open_folder(directory, set_name, group)),
      lock_(folder_.open_file(kLockName, O_RDWR | O_CREAT)) {
  if (folder_.owner() != ::geteuid()) {
    throw Error(ErrorKind::NotTrusted, folder_.path() + ": belongs to uid " +
                                           std::to_string(folder_.owner()) + ", this loader runs as " +
                                           std::to_string(::geteuid()));
  }
  if constexpr (!kHasWideAtomics)
    throw Error(ErrorKind::Incompatible,
                folder_.path() + ": this processor has no atomic operation on 16 bytes");
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw Error(ErrorKind::Locked, folder_.path_of(kLockName) + ": locked: another loader is at work on it");
  }
  // Or that one has removed the set meanwhile.
  const auto named = folder_.status_of(kLockName);
  if (!named || identity_of(*named) != identity_of(stat_of(lock_, folder_.path_of(kLockName))))
    throw Error(ErrorKind::Locked,
                folder_.path_of(kLockName) + ": was removed or replaced while it was taken");
}

bool SeenWriter::is_empty() const {
  if (is_removed()) return true;
  if (!file_) return false;
  file_->check(folder_.path_of(kSeenPageName));
  return state().is_empty();
}

bool SeenWriter::adopt() {
  filters_.clear();
  if (!folder_.status_of(kSeenPageName)) return false;
  try {
    file_.emplace(folder_, MapAccess::ReadWrite);
    file_->check(folder_.path_of(kSeenPageName));
    if (!attach_all()) return false;
  } catch (const Error& failure) {
    if (failure.kind() == ErrorKind::Data || failure.kind() == ErrorKind::Incompatible) return false;
    throw;
  }
  // The folder may have another group than before.
  for (const Opened& one : filters_) one.segment.give_to_group(group(), folder_.path());
  // Filters that a crash has left: `state` does not count them.
  remove_segments(state().end, kSeenEntries - state().size());
  return true;
}

// False if one is not there any more, or is another user's. What cannot be attached for another reason must
// not be replaced.
bool SeenWriter::attach_all() {
  const SeenState all = state();
  if (!all.is_possible()) return false;
  for (std::uint32_t number = all.first; number != all.end; ++number) {
    const SeenEntry& of = entry(number);
    Segment segment;
    try {
      segment = Segment::attach(of.segment_key, of.plan.bytes(), ::geteuid(), folder_.path());
    } catch (const Error& failure) {
      if (failure.kind() != ErrorKind::MissingInput && failure.kind() != ErrorKind::NotTrusted) throw;
      return false;
    }
    const SeenFilter filter = filter_of(of, segment.bytes(), folder_.path());
    filters_.push_back({std::move(segment), filter});
  }
  return true;
}

gid_t SeenWriter::group() const {
  return stat_of(folder_.descriptor(), folder_.path()).st_gid;
}

void SeenWriter::create(std::uint64_t seed, OnUnavailable on_unavailable) {
  folder_.remove_file(kNewPageName);
  const FileDescriptor file = folder_.create_file(kNewPageName, kPageMode);
  try {
    write_all(file, new_seen_page(seed, on_unavailable), folder_.path_of(kNewPageName));
  } catch (const Error&) {
    folder_.remove_file(kNewPageName);  // others may need the room
    throw;
  }
  clear();
  folder_.replace_file(kNewPageName, kSeenPageName);
  file_.emplace(folder_, MapAccess::ReadWrite);
}

// Numbers go on, should a crash leave the page in use.
void SeenWriter::clear() noexcept {
  filters_.clear();
  if (!file_) return;
  const std::uint32_t end = state().end;
  file_->writable_page().state.store(SeenState{end, end}.word(), std::memory_order_seq_cst);
  remove_segments(end, kSeenEntries);
}

void SeenWriter::remove() {
  clear();
  for (const char* name : {kSeenPageName, kNewPageName, kLockName}) folder_.remove_file(name);
  if (::rmdir(folder_.path().c_str()) != 0) throw_write_error(folder_.path(), errno);
}

bool SeenWriter::is_removed() const {
  return !folder_.status_of(kSeenPageName);
}

void SeenWriter::remove_segments(std::uint32_t first, std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t& key = writable_entry(first + i).segment_key;
    remove_segment(key);
    key = 0;
  }
}

void SeenWriter::append(const std::vector<SeenPlan>& plans, const Fill& fill) {
  SeenState all = state();
  if (filters_.size() + plans.size() > kMaxSeenFilters) {
    throw Error(ErrorKind::CannotCreate, folder_.path() + ": has " + std::to_string(filters_.size()) +
                                             " filters already, the most is " +
                                             std::to_string(kMaxSeenFilters));
  }
  const std::size_t before = filters_.size();
  try {
    for (std::size_t index = 0; index < plans.size(); ++index) {
      SeenEntry& entry = writable_entry(all.end + static_cast<std::uint32_t>(index));
      entry = {plans[index], 0, 0};
      Segment segment = Segment::create(entry.segment_key, entry.plan.bytes(), group(), folder_.path());
      const SeenFilter filter = filter_of(entry, segment.bytes(), folder_.path());
      segment.make_resident();
      filters_.push_back({std::move(segment), filter});
    }
    for (std::size_t index = 0; fill && index < plans.size(); ++index)
      fill(index, filters_[before + index].filter);
  } catch (...) {
    filters_.erase(filters_.begin() + static_cast<std::ptrdiff_t>(before), filters_.end());
    remove_segments(all.end, static_cast<std::uint32_t>(plans.size()));
    throw;
  }
  all.end += static_cast<std::uint32_t>(plans.size());
  file_->writable_page().state.store(all.word(), std::memory_order_seq_cst);
}

std::uint32_t SeenWriter::retire(UnixSeconds now) noexcept {
  const auto plan_of = [this](std::uint32_t number) -> const SeenPlan& { return entry(number).plan; };
  SeenState left = state();
  const std::uint32_t first = left.first;
  for (; !left.is_empty(); ++left.first) {
    const auto ended = end_of_window(left.first, left.end, plan_of);
    if (!ended || *ended + plan_of(left.first).window.kept_for > now) break;
  }
  const std::uint32_t retired = left.first - first;
  if (retired == 0) return 0;
  file_->writable_page().state.store(left.word(), std::memory_order_seq_cst);
  remove_segments(first, retired);
  filters_.erase(filters_.begin(), filters_.begin() + retired);
  return retired;
}

void SeenWriter::set_on_unavailable(OnUnavailable answer) noexcept {
  file_->writable_page().on_unavailable.store(static_cast<std::uint32_t>(answer), std::memory_order_relaxed);
}

void SeenWriter::looked(UnixSeconds now, UnixSeconds next_look, const Troubles& troubles) noexcept {
  SeenPage& page = file_->writable_page();
  page.looked_at.store(now, std::memory_order_relaxed);
  page.next_look.store(next_look, std::memory_order_relaxed);
  page.troubles.store(troubles.word(), std::memory_order_relaxed);
}

void SeenWriter::leave(UnixSeconds now) noexcept {
  Troubles left;
  left.add(Trouble::NotConfigured);
  looked(now, 0, left);
}

}  // namespace keysieve
