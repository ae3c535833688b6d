// The reading side of shared memory: attaches the current publication of one set and follows it. Never
// writes, never locks, never waits. One SetReader belongs to one thread; a process may have many.
//
//   SetReader reader({.directory = "/run/keysieve"}, "tags");
//   if (const SetReader::Pin pin = reader.pin()) {
//     answer = pin->snapshot().may_contain(hash_key(key, pin->snapshot().seed()));
//   } else {
//     answer = maybe;   // reader.availability() says why
//   }
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/shm/control_page.hpp"
#include "core/shm/live_page.hpp"
#include "core/shm/set_folder.hpp"
#include "core/snapshot/snapshot.hpp"

namespace keysieve {

// Everything but Ready means: the answer is maybe.
enum class Availability : std::uint8_t {
  Ready,
  Missing,       // no such set here, nothing published yet, or not to be trusted
  Expired,       // past the snapshot's valid_for
  Bypassed,      // switched off by an operator
  Incompatible,  // published by a version this reader does not understand
};

std::string_view to_string(Availability availability) noexcept;

struct ReaderSettings {
  std::string directory{kDefaultDirectory};
  std::optional<uid_t> trusted_owner;         // believed besides root and the effective uid
  std::chrono::milliseconds max_jitter{500};  // a new publication is attached within this time
};

// A publication mapped into this process. Lives as long as it is current or pinned.
class Attachment {
 public:
  // Throws DataError, IncompatibleError, MissingInputError, PermissionError.
  Attachment(const SetFolder& folder, std::string_view set_name, std::uint64_t instance,
             std::uint64_t publication);

  [[nodiscard]] const SnapshotView& snapshot() const noexcept { return snapshot_; }
  [[nodiscard]] const LivePage& live() const noexcept;
  [[nodiscard]] std::uint64_t instance() const noexcept { return instance_; }
  [[nodiscard]] std::uint64_t publication() const noexcept { return publication_; }

 private:
  friend class SetReader;

  MappedRegion snapshot_region_;
  MappedRegion live_region_;
  SnapshotView snapshot_;
  std::uint64_t instance_;
  std::uint64_t publication_;
  std::uint32_t pins_ = 0;
};

class SetReader {
 public:
  // Keeps an attachment mapped while a call uses it, whatever other code runs in the middle.
  class Pin {
   public:
    explicit Pin(SetReader* reader, Attachment* attachment) noexcept
        : reader_(reader), attachment_(attachment) {
      if (attachment_ != nullptr) ++attachment_->pins_;
    }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    ~Pin() {
      if (attachment_ != nullptr && --attachment_->pins_ == 0 && !reader_->retired_.empty())
        reader_->detach_unpinned();
    }
    explicit operator bool() const noexcept { return attachment_ != nullptr; }
    const Attachment& operator*() const noexcept { return *attachment_; }
    const Attachment* operator->() const noexcept { return attachment_; }

   private:
    SetReader* reader_;
    Attachment* attachment_;
  };

  // Opens nothing yet. The name must be a set name.
  SetReader(ReaderSettings settings, std::string_view set_name);

  // What the set answers from now; false unless Ready. One acquire load when nothing has changed; the reader
  // must outlive the pin.
  [[nodiscard]] Pin pin() noexcept {
    if (control_page_ == nullptr || --calls_until_check_ == 0 ||
        control_page_->current.load(std::memory_order_acquire) != expected_word_) [[unlikely]] {
      refresh();
    }
    return Pin(this, serving_);
  }

  // The next call looks at the clock and at the control file again, as every 4,096th does. For the start of a
  // request.
  void check_soon() noexcept { calls_until_check_ = 1; }

  // As of the last pin().
  [[nodiscard]] Availability availability() const noexcept { return availability_; }
  // One line for the log when availability() is not Ready; also after a new publication was refused.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  [[nodiscard]] const std::string& set_name() const noexcept { return set_name_; }
  // nullptr when the set is missing.
  [[nodiscard]] const ControlPage* control() const noexcept { return control_page_; }
  // What is mapped, even when expired or bypassed; nullptr when nothing is. Valid until the next pin().
  [[nodiscard]] const Attachment* attachment() const noexcept { return attachment_.get(); }

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  static constexpr std::uint32_t kCallsBetweenChecks = 4096;
  static constexpr int kAttachTries = 3;
  static constexpr std::chrono::seconds kRetryDelay{1};
  // Never a word of a control page: every call takes the slow path.
  static constexpr std::uint64_t kUnsettled = ~std::uint64_t{0};

  void refresh() noexcept;
  void detach_unpinned() noexcept;

  ReaderSettings settings_;
  std::string set_name_;

  // The hot part: what pin() reads.
  const ControlPage* control_page_ = nullptr;
  std::uint64_t expected_word_ = kUnsettled;
  std::uint32_t calls_until_check_ = 1;
  Availability availability_ = Availability::Missing;
  Attachment* serving_ = nullptr;  // attachment_ while Ready, else nullptr

  std::unique_ptr<Attachment> attachment_;
  std::vector<std::unique_ptr<Attachment>> retired_;  // replaced, but still pinned
  std::optional<SetFolder> folder_;
  FileDescriptor control_file_;
  MappedRegion control_region_;
  std::string reason_;
};

}  // namespace keysieve
