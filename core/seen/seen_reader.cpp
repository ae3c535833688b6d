#include "core/seen/seen_reader.hpp"

#include <algorithm>

#include "core/base/set_name.hpp"

namespace keysieve {
namespace {

// Cache lines asked for ahead of a batch: a first-level cache has 512 and more.
constexpr std::size_t kLinesAhead = 256;

}  // namespace

SeenReader::SeenReader(ReaderSettings settings, std::string_view set_name)
    : settings_(std::move(settings)),
      set_name_(checked_set_name(set_name)),
      path_(seen_directory(settings_.directory) + "/" + set_name_ + "/" + kSeenPageName) {}

OnUnavailable SeenReader::on_unavailable() const noexcept {
  if (!file_) return OnUnavailable::Throw;
  return static_cast<OnUnavailable>(file_->page().on_unavailable.load(std::memory_order_relaxed));
}

bool SeenReader::may_contain(KeyHash hash) const noexcept {
  prefetch(hash);
  return may_contain(hash, newest_mask(hash));
}

void SeenReader::prefetch(KeyHash hash) const noexcept {
  for (const SeenFilter& filter : filters_) filter.prefetch(hash);
}

WordMask SeenReader::newest_mask(KeyHash hash) const noexcept {
  return word_mask(hash, filters_.back().key_bits());
}

// Most filters of a set have as many bits per key as the newest, so its mask is good for them too.
bool SeenReader::may_contain(KeyHash hash, const WordMask& newest) const noexcept {
  const unsigned newest_bits = filters_.back().key_bits();
  return std::any_of(filters_.rbegin(), filters_.rend(), [&](const SeenFilter& filter) {
    return filter.key_bits() == newest_bits ? filter.may_contain(hash, newest) : filter.may_contain(hash);
  });
}

bool SeenReader::add_if_new(KeyHash hash) noexcept {
  prefetch(hash);
  return add(hash);
}

// Two processes may see different newest filters, while the loader appends one. The one with the older view
// adds the key there, and then looks at `state` again. If that has changed, it must win in each newer filter
// too. The other one has looked at all older filters after it had loaded `state`. So either it found the key
// there, or the first one finds the new state. This needs all four accesses in one order, which sequentially
// consistent loads and a full barrier give.
bool SeenReader::add(KeyHash hash) noexcept {
  const WordMask mask = newest_mask(hash);
  if (may_contain(hash, mask) || !filters_.back().add_if_new(hash, mask)) return false;
  std::uint32_t won_up_to = attached_.end;
  for (;;) {
    if (state_->load(std::memory_order_seq_cst) == expected_) [[likely]]
      return true;
    refresh();
    if (!is_ready()) return false;  // another call may have won where this one cannot look
    const std::size_t newer = std::min<std::size_t>(attached_.end - won_up_to, filters_.size());
    won_up_to = attached_.end;
    for (const SeenFilter& filter : std::span(filters_).last(newer)) {
      if (!filter.add_if_new(hash)) return false;
    }
  }
}

std::size_t SeenReader::add_many_if_new(std::span<const KeyHash> hashes, bool* is_new) noexcept {
  std::size_t done = 0;
  while (done < hashes.size()) {
    const auto rest = hashes.subspan(done);
    const auto some =
        rest.first(std::min(rest.size(), std::max<std::size_t>(1, kLinesAhead / filters_.size())));
    for (const KeyHash hash : some) prefetch(hash);
    for (const KeyHash hash : some) {
      is_new[done++] = add(hash);
      if (!is_ready()) return done;
    }
  }
  return done;
}

void SeenReader::refresh() noexcept {
  try {
    if (pace_.is_due()) {
      pace_.plan(std::chrono::steady_clock::now());
      if (!file_ || !file_->is_at(path_)) open_page();
    }
    if (file_) attach_all();
  } catch (const Error& failure) {
    availability_ =
        failure.kind() == ErrorKind::Incompatible ? Availability::Incompatible : Availability::Missing;
    reason_ = failure.what();
  } catch (const std::exception& failure) {  // out of memory
    drop_filters();
    availability_ = Availability::Missing;
    reason_ = failure.what();
  }
}

void SeenReader::open_page() {
  drop_filters();
  file_.reset();
  state_ = &kNoState;
  expected_ = kNoState;
  SeenPageFile file(SetFolder::open(seen_directory(settings_.directory), set_name_, settings_.trusted_owner),
                    MapAccess::ReadOnly);
  file.check(path_);
  file_ = std::move(file);
  state_ = &file_->page().state;
  hasher_.emplace(file_->page().seed);
}

// The loader may append and retire meanwhile. What cannot be attached is tried again when `state` changes,
// and at each check.
void SeenReader::attach_all() {
  for (int tries = 0; tries < kTries; ++tries) {
    expected_ = state_->load(std::memory_order_seq_cst);
    const SeenState state = SeenState::of(expected_);
    if (state.is_empty() || !state.is_possible()) {
      drop_filters();
      if (!state.is_possible())
        throw Error(ErrorKind::Data, path_ + ": is damaged: " + std::to_string(state.size()) + " filters");
      throw Error(ErrorKind::MissingInput, path_ + ": has no filter yet: the loader waits for the store");
    }
    if (!attach(state)) continue;
    availability_ = Availability::Ready;
    reason_.clear();
    return;
  }
  throw Error(ErrorKind::MissingInput, path_ + ": changes faster than it can be read");
}

// False: it has changed meanwhile.
bool SeenReader::attach(SeenState wanted) {
  if (wanted == attached_) return true;
  std::vector<Segment> segments;
  std::vector<SeenFilter> filters;
  segments.reserve(wanted.size());
  filters.reserve(wanted.size());
  for (std::uint32_t number = wanted.first; number != wanted.end; ++number) {
    const SeenEntry entry = file_->page().copy_of_entry(number);
    const std::uint32_t place = number - attached_.first;
    const bool is_attached = place < segments_.size() && segments_[place].key() == entry.segment_key &&
                             !segments_[place].bytes().empty();
    try {
      segments.push_back(is_attached
                             ? std::move(segments_[place])
                             : Segment::attach(entry.segment_key, entry.plan.bytes(), file_->owner(), path_));
      filters.push_back(filter_of(entry, segments.back().bytes(), path_));
    } catch (const Error&) {
      drop_filters();
      if (state_->load(std::memory_order_seq_cst) != wanted.word()) return false;
      throw;
    }
  }
  // The loader writes up to kMaxSeenFilters entries from `first` on: those that were read are not among them
  // unless it has come so far meanwhile.
  const SeenState now = SeenState::of(state_->load(std::memory_order_seq_cst));
  if (now.first - wanted.first > kSeenEntries - kMaxSeenFilters) {
    drop_filters();
    return false;
  }
  segments_ = std::move(segments);
  filters_ = std::move(filters);
  attached_ = wanted;
  return true;
}

void SeenReader::drop_filters() noexcept {
  filters_.clear();
  segments_.clear();
  attached_ = {};
}

}  // namespace keysieve
