// The loader's side of a seen set: creates page and segments, adds filters, retires those that have expired,
// and puts back what was lost. One process per set, one thread per object; workers never wait for it. A
// function throws nothing unless its comment says so.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/publisher/shm/publisher_folder.hpp"
#include "core/publisher/shm/trouble.hpp"
#include "core/worker/seen/seen_page.hpp"
#include "core/worker/seen/segment.hpp"

namespace keysieve {

// A filter as the loader has it.
struct OpenFilter {
  SeenPlan plan{};
  BootSeconds begun_at = 0;
  Segment segment{};
  SeenFilter filter{};

  // For each word, how many of its tags the store has. Only the loader uses this, though workers could write
  // there.
  [[nodiscard]] std::span<std::uint8_t> sent() const noexcept {
    return {reinterpret_cast<std::uint8_t*>(segment.bytes().data()) + plan.bytes(), plan.size.words};
  }
  // All that this loader has sent, where no worker can write.
  mutable std::uint64_t tags_sent = 0;
};

class SeenWriter {
 public:
  // Opens or creates <directory>/seen.d/<set>, of that group, and takes its lock. Throws CannotCreate,
  // Permission, NotTrusted (also if the folder belongs to another user), MissingInput, Locked, Incompatible.
  // check_memory: called with the bytes of a filter before its memory is taken; throws if it should not be.
  // `held`: descriptors with locks that this process has already, for example since before an exec. Those of
  // this set are taken from there, now and when the page is opened.
  SeenWriter(const std::string& directory, std::string_view set_name, std::optional<gid_t> group,
             CheckMemory check_memory = {}, std::vector<FileDescriptor>* held = nullptr);

  // Throws MissingInput, Permission if it cannot find out.
  [[nodiscard]] bool has_page() const { return folder_.status_of(kSeenPageName).has_value(); }
  // Goes on with the page that is there. False if there is none, or it is damaged or of another version: then
  // create() is next. Filters whose memory is gone are left out, see lost(). Throws MissingInput,
  // CannotCreate, Permission if it cannot find out, and Locked; then the set is as it was.
  [[nodiscard]] bool adopt();
  // Replaces the page by one without filters: workers answer as `on_unavailable` says until show(). The seed
  // must not be zero. Throws CannotCreate, Permission, Locked; then the set is as it was.
  void create(const HashSeed& seed, OnUnavailable on_unavailable);
  // Writes a new page in place of that of `old`, to which the path no longer leads. `old` must be unlocked.
  // Workers move to it with all that they have added. Throws as create(); then `old` is as it was.
  void take_over(SeenWriter& old);
  // Releases the file `lock`, which the writer that takes over may need. The page stays locked.
  void unlock() noexcept { lock_ = {}; }
  // The descriptors that hold its locks. A process that inherits all of them holds the locks.
  [[nodiscard]] std::vector<int> locks() const;
  // Takes all filters from the page. A worker that kept a removed filter would call keys new that workers of
  // the next page call new again.
  void clear() noexcept;
  // Removes the set with its memory: workers drop it at their next request. Nothing may be called afterwards.
  // Throws CannotCreate, Permission, also if there are foreign files in the folder.
  void remove();

  // The functions below need a page.

  // False: the path leads to another file or to none, because of a rename, a mount or a removal. Throws
  // MissingInput, Permission if it cannot find out.
  [[nodiscard]] bool is_in_place() const;

  // Mapped until the object ends, or a function above has made another page.
  [[nodiscard]] SeenPage& page() const noexcept { return file_->page(); }
  [[nodiscard]] SeenState state() const noexcept { return SeenState::of(page().state.load()); }
  // Oldest first; the last one takes the keys. References to filters are valid until the next function that
  // adds, retires or heals some.
  [[nodiscard]] const std::vector<OpenFilter>& filters() const noexcept { return filters_; }
  // The first filter of the next window; nullptr if this one's has not ended.
  [[nodiscard]] const OpenFilter* next_window(const OpenFilter& one) const noexcept;
  // When its window has ended: later than planned if the next one began later.
  [[nodiscard]] std::optional<UnixSeconds> ended_at(const OpenFilter& one) const noexcept {
    const OpenFilter* next = next_window(one);
    if (next == nullptr) return std::nullopt;
    return std::max(one.plan.window.ends, next->plan.window.begins);
  }
  // nullptr if there is none.
  [[nodiscard]] const OpenFilter* find(const FilterId& id) const noexcept;
  // The filters whose memory this object has not found.
  [[nodiscard]] const std::vector<SeenPlan>& lost() const noexcept { return lost_; }

  // Makes an empty filter in its place among the others. Workers see it after show(). Throws CannotCreate,
  // also beyond kMaxSeenFilters; then nothing has changed.
  const OpenFilter& make(const SeenPlan& plan, BootSeconds now);
  // When the window of a filter has begun, for one that show() has not shown yet.
  void begin_later(std::size_t index, UnixSeconds begins, BootSeconds begun_at) noexcept;
  // Workers see all filters from now on.
  void show() noexcept;
  // Makes and shows one. Throws as make() does.
  void append(const SeenPlan& plan, BootSeconds now);
  // Removes the oldest filters, those that were kept for long enough after their windows by both clocks.
  // Returns how many.
  std::size_t retire(const Moment& now) noexcept;
  // Puts the contents of filters whose segments were removed into new ones. Returns how many. Throws as
  // make() does; the others stay attached here, and the next call tries again.
  std::size_t heal();

  void set_on_unavailable(OnUnavailable answer) noexcept;
  // Ends the bypass if its time is over.
  void clear_expired_bypass(UnixSeconds now) noexcept;
  // Records that the loader is alive, by when it will have looked again (0: it does not say), and what keeps
  // it from its work.
  void looked(UnixSeconds now, UnixSeconds next_look = 0, const Troubles& troubles = {}) noexcept;
  // Records that the set is not configured any more, if there is a page that this object has locked.
  void leave(UnixSeconds now) noexcept;

 private:
  static BootSeconds ended_since_boot(const OpenFilter& filter, const OpenFilter& next) noexcept;
  void make_new_page(Bytes bytes) const;
  void open_page();
  FileDescriptor open_to_lock(const std::string& name, int flags);
  [[nodiscard]] bool attach_all();
  [[nodiscard]] gid_t group() const;
  [[nodiscard]] SeenEntry& slot(std::uint32_t number) const noexcept {
    return page().entries[number % kSeenEntries];
  }
  void write(std::uint32_t number, const SeenEntry& entry) const noexcept;
  OpenFilter open(const SeenPlan& plan, BootSeconds now);
  void replace_lost(std::size_t index);
  void sweep() const noexcept;

  SetFolder folder_;
  FileDescriptor lock_;
  CheckMemory check_memory_;
  std::vector<FileDescriptor>* held_;
  std::string path_;  // of the page
  FileDescriptor page_lock_;
  std::optional<MappedPage<SeenPage>> file_;
  std::vector<OpenFilter> filters_;
  std::vector<SeenPlan> lost_;
};

}  // namespace keysieve
