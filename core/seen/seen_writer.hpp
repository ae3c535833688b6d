// The loader's side of a seen set: creates page and segments, appends filters, retires those that have
// expired. One process per set; workers never wait for it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/seen/seen_page.hpp"
#include "core/seen/seen_plan.hpp"
#include "core/seen/segment.hpp"
#include "core/shm/publisher_folder.hpp"
#include "core/shm/trouble.hpp"

namespace keysieve {

class SeenWriter {
 public:
  // Opens or creates <directory>/seen.d/<set>, of that group, and takes its lock. Throws CannotCreate,
  // Permission, NotTrusted (also if the folder belongs to another user), MissingInput, Locked, Incompatible.
  SeenWriter(const std::string& directory, std::string_view set_name, std::optional<gid_t> group);

  // Neither a key nor a window is in it: there is no page, or one without filters. Throws MissingInput,
  // Permission, Data, Incompatible if it cannot find out.
  [[nodiscard]] bool is_empty() const;
  // Goes on with the page that is there. False if there is none, it is damaged or of another version, or a
  // filter's memory is gone: then create() is next. Throws MissingInput, CannotCreate, Permission if it
  // cannot find out; then the set is as it was.
  bool adopt();
  // Replaces the page by one without filters: workers answer as `on_unavailable` says until append().
  void create(std::uint64_t seed, OnUnavailable on_unavailable);
  // Takes all filters from the page. Workers that still have one that was removed must not go on: what they
  // call new, those with the page that follows would call new again.
  void clear() noexcept;

  // Removes the set with its memory: workers drop it at their next request. Last of all.
  void remove();

  // The functions below need a page.

  // True if the page or its folder was removed. Throws MissingInput, Permission if it cannot find out.
  [[nodiscard]] bool is_removed() const;

  [[nodiscard]] const SeenPage& page() const noexcept { return file_->page(); }
  [[nodiscard]] SeenState state() const noexcept { return SeenState::of(page().state.load()); }
  // number: from state().first up to state().end.
  [[nodiscard]] const SeenEntry& entry(std::uint32_t number) const noexcept { return page().entry(number); }
  [[nodiscard]] const SeenFilter& filter(std::uint32_t number) const noexcept {
    return filters_[number - state().first].filter;
  }

  // Appends filters, which workers see all at once; the last of them takes the keys from now on. `fill` may
  // write to each before. Throws CannotCreate, also if there would be more than kMaxSeenFilters, and what
  // `fill` throws; then nothing has changed.
  using Fill = std::function<void(std::size_t index, const SeenFilter& filter)>;
  void append(const std::vector<SeenPlan>& plans, const Fill& fill = {});
  // Removes the oldest filters, those that were kept for long enough after their windows. Returns how many.
  std::uint32_t retire(UnixSeconds now) noexcept;

  void set_on_unavailable(OnUnavailable answer) noexcept;
  // Records that the loader is alive, by when it will have looked again (0: it does not say), and what keeps
  // it from its work.
  void looked(UnixSeconds now, UnixSeconds next_look = 0, const Troubles& troubles = {}) noexcept;
  // Records that the set is not configured any more.
  void leave(UnixSeconds now) noexcept;

 private:
  struct Opened {
    Segment segment;
    SeenFilter filter;
  };

  [[nodiscard]] bool attach_all();
  [[nodiscard]] gid_t group() const;
  [[nodiscard]] SeenEntry& writable_entry(std::uint32_t number) const noexcept {
    return file_->writable_page().entries[number % kSeenEntries];
  }
  void remove_segments(std::uint32_t first, std::uint32_t count) noexcept;

  PublisherFolder folder_;
  FileDescriptor lock_;
  std::optional<SeenPageFile> file_;
  std::vector<Opened> filters_;  // as state()
};

}  // namespace keysieve
