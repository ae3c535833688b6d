#include "core/worker/shm/set_reader.hpp"

#include <utility>

#include "core/worker/base/set_name.hpp"

namespace keysieve {
namespace {

constexpr auto kAvailabilityNames =
    std::to_array<std::string_view>({"ready", "missing", "expired", "bypassed", "incompatible"});
static_assert(kAvailabilityNames.size() == static_cast<std::size_t>(Availability::Incompatible) + 1);

}  // namespace

std::string_view to_string(Availability availability) noexcept {
  return kAvailabilityNames[static_cast<std::size_t>(availability)];
}

std::string_view SetReader::reason() const noexcept {
  if (has_no_memory_) return "out of memory";
  if (availability_ == Availability::Bypassed) {
    if ((bypassed_by_ & kDamagedBit) != 0) return "its bytes have changed since they were published";
    if ((bypassed_by_ & kAddsLostBit) != 0) return "the store has lost keys that were added to it";
    if (bypassed_by_ == kBypassBit) return "bypassed by an operator of this host";
    if (bypassed_by_ == kStoreBypassBit) return "bypassed in the store";
    return "bypassed by an operator of this host, and in the store";
  }
  if (availability_ == Availability::Expired) return "its snapshot is past valid_for";
  const Trouble* trouble = worst_trouble();
  return trouble == nullptr ? std::string_view() : trouble->reason;
}

std::optional<ErrorKind> SetReader::trouble() const noexcept {
  if (availability_ == Availability::Bypassed) {
    return (bypassed_by_ & kDamagedBit) != 0 ? std::optional(ErrorKind::Data) : std::nullopt;
  }
  if (availability_ == Availability::Expired) return std::nullopt;
  const Trouble* trouble = worst_trouble();
  return trouble == nullptr ? std::nullopt : std::optional(trouble->kind);
}

const SetReader::Trouble* SetReader::worst_trouble() const noexcept {
  if (control_trouble_) return &*control_trouble_;
  return attach_trouble_ ? &*attach_trouble_ : nullptr;
}

SetReader::SetReader(ReaderSettings settings, std::string_view set_name)
    : settings_(std::move(settings)),
      set_name_(checked_set_name(set_name)),
      control_path_(settings_.directory + "/" + set_name_ + "/" + kControlName) {}

// The slow path: runs at the first call, at every check, and whenever `current` has changed.
bool SetReader::refresh() noexcept {
  const bool is_new = !control_ || has_changed(control_->page(), answered_word_, answered_ends_);
  if (!is_new && !pace_.is_due()) return false;
  has_no_memory_ = false;
  try {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (pace_.is_due()) {
      pace_.plan(now);
      follow_control(now);
    } else if (control_trouble_ && now >= retry_at_) {
      follow_control(now);
    }
    follow_current(now);
  } catch (const std::exception&) {
    give_up_once();
  }
  return true;
}

// Memory ran out: what is mapped may not be what the path leads to now. The next call looks at everything
// again.
void SetReader::give_up_once() noexcept {
  has_no_memory_ = true;
  serving_ = nullptr;
  availability_ = Availability::Missing;
  expected_word_ = answered_word_ = kUnsettled;
  retry_at_ = {};
  check_soon();
}

// Opens the control page that the path leads to now. If there is none any more, the mapped publication goes
// on serving. If there is another one that cannot be opened, something newer may have been published there.
void SetReader::follow_control(SteadyTime now) {
  for (int tries = 1;; ++tries) {
    try {
      if (!control_ || control_->found_at(control_path_) == MappedRegion::Found::Another) open_control();
      follow_layer();
      retry_at_ = {};
      control_trouble_.reset();
      return;
    } catch (const Error& failure) {
      // A file that was found may be gone again.
      if (control_ && failure.kind() == ErrorKind::MissingInput && tries < kAttachTries) continue;
      retry_at_ = now + kRetryDelay;
      control_trouble_.emplace(failure);
      return;
    }
  }
}

// The mapped publication goes on answering until something is published there. It does not if the page before
// has named something newer since, or if this is a copy of the folder, with the same numbers but other files.
void SetReader::open_control() {
  const SetFolder folder = SetFolder::open(settings_.directory, set_name_, settings_.trusted_owner);
  MappedPage<const ControlPage> opened = open_control_page<const ControlPage>(folder);
  const bool is_copy = attachment_ && opened.page().instance == attachment_->id().instance;
  if (is_behind(current_->load(std::memory_order_relaxed)) || is_copy) attachment_.reset();
  control_ = std::move(opened);
  current_ = &control_->page().current;
  attach_trouble_.reset();
  refused_ = {};
}

// The publication is attached again if keys are added where it does not see them.
void SetReader::follow_layer() {
  const bool is_here = attachment_ && attachment_->id().instance == control_->page().instance;
  if (is_here && !attachment_->shows_its_path() && !is_layer_replaced_by_something_else())
    attachment_.reset();
}

// Nobody adds to what is no live page of the publication, so what is mapped goes on serving. If the page
// cannot be opened for another reason, keys may be added there.
bool SetReader::is_layer_replaced_by_something_else() const {
  const PublicationId& id = attachment_->id();
  try {
    const SetFolder folder = SetFolder::open(settings_.directory, set_name_, settings_.trusted_owner);
    static_cast<void>(open_live_page<const LivePage>(folder, live_file_name(id.publication), id));
    return false;
  } catch (const Error& failure) {
    return failure.kind() == ErrorKind::Data;
  }
}

// Tries again while the word changes: the files of a publication are gone once the next but one has come.
void SetReader::follow_current(SteadyTime now) {
  for (int tries = 1;; ++tries) {
    const std::uint64_t word = current_->load(std::memory_order_acquire);
    if (!control_) return answer_once(word);  // a long-running worker finds a set that comes later
    if (publication_of(word) == 0) {
      attach_trouble_.emplace(Error(ErrorKind::MissingInput, "nothing is published yet"));
      return answer_while(word);  // a new control page: the mapped publication goes on serving
    }
    const PublicationId wanted = named_by(word);
    if (!is_behind(word)) {
      attach_trouble_.reset();  // with a newer one, which `current` names no more
      refused_ = {};
      return answer_while(word);
    }
    if (wanted == refused_) return answer_while(word);
    if (now < retry_at_ || tries > kAttachTries) return answer_once(word);
    if (attach(wanted)) continue;
    const auto* const page = current_;
    follow_control(now);  // the path may lead to another folder, with other files of the same numbers
    const bool is_same = current_ == page && current_->load(std::memory_order_relaxed) == word;
    if (is_same && wanted != refused_) retry_at_ = std::chrono::steady_clock::now() + kRetryDelay;
  }
}

bool SetReader::attach(const PublicationId& wanted) {
  try {
    const SetFolder folder = SetFolder::open(settings_.directory, set_name_, settings_.trusted_owner);
    replaced_.reset();  // never more than two are mapped
    auto next = std::make_unique<Attachment>(folder, set_name_, wanted);
    replaced_ = std::exchange(attachment_, std::move(next));
    return true;
  } catch (const Error& failure) {
    attach_trouble_.emplace(failure);
    if (failure.kind() == ErrorKind::Incompatible || failure.kind() == ErrorKind::Data) refused_ = wanted;
    return false;
  }
}

// What calls answer as long as `current` is this word, and the ends of bypasses are what they are.
void SetReader::answer_while(std::uint64_t word) noexcept {
  const UnixSeconds now = unix_now();
  if (control_) answered_ends_ = ends_of(control_->page());
  bypassed_by_ = control_ ? bypasses_in_force(word, answered_ends_, now) : 0;
  availability_ = availability_at(now, word);
  serving_ = availability_ == Availability::Ready ? attachment_.get() : nullptr;
  answered_word_ = control_trouble_ ? kUnsettled : word;
  const bool is_over = is_bypassed(word) && availability_ != Availability::Bypassed;
  expected_word_ = is_over ? kUnsettled : answered_word_;
}

// Answers as answer_while() for this call alone; the next one looks again.
void SetReader::answer_once(std::uint64_t word) noexcept {
  answer_while(word);
  expected_word_ = answered_word_ = kUnsettled;
}

Availability SetReader::availability_at(UnixSeconds now, std::uint64_t word) const noexcept {
  if (control_trouble_) return control_trouble_->availability();
  if (!attachment_ || is_behind(word))
    return attach_trouble_ ? attach_trouble_->availability() : Availability::Missing;
  if (bypassed_by_ != 0) return Availability::Bypassed;
  const UnixSeconds valid_until = attachment_->snapshot().valid_until();
  if (valid_until != 0 && now >= valid_until) return Availability::Expired;
  return Availability::Ready;
}

}  // namespace keysieve
