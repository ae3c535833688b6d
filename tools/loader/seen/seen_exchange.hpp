// Brings a seen set into the log of its store: sends what was added, takes over what other hosts have sent,
// and trims what has expired. In steps of a request, between which the set may change.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/publisher/seen/seen_writer.hpp"
#include "core/worker/base/clock.hpp"
#include "tools/loader/config/seen_config.hpp"
#include "tools/loader/seen/taken_entries.hpp"

namespace keysieve {

// What must outlive the loader is in the set's page. Functions throw as the store does; what was done by then
// need not be done again.
class SeenExchange {
 public:
  // `config` must outlive it.
  explicit SeenExchange(const SeenConfig& config) : config_(config) {}

  // Forgets how far receive() and send() have got.
  void begin() noexcept;
  // Adds tags that other hosts have sent. False: that was the last step. Then it throws Data or Incompatible
  // if something could not be taken over.
  bool receive(Store& store, SeenWriter& writer, const Moment& now);
  // Appends tags that the log does not have. False: that was the last step. Then it throws Data if a worker
  // takes tags away, so that there would be no end of it.
  bool send(Store& store, SeenWriter& writer, const Moment& now);
  // Removes entries from the log that have expired, by both clocks.
  void trim(Store& store, const SeenWriter& writer, const Moment& now);

  // Tags, since this object began.
  [[nodiscard]] std::uint64_t keys_merged() const noexcept { return merged_; }
  [[nodiscard]] std::uint64_t keys_saved() const noexcept { return saved_; }

 private:
  struct Unsent;

  void open_log(Store& store, SeenWriter& writer);
  [[nodiscard]] SeenLogEntry new_entry(const OpenFilter& filter, const SeenWriter& writer,
                                       const Moment& now) const;
  [[nodiscard]] static Unsent unsent_of(const OpenFilter& filter, std::uint64_t first_word,
                                        SeenLogEntry entry);
  [[nodiscard]] bool has_lost_own(Store& store, const SeenLogState& state, const Moment& now);
  void send_some(Store& store, SeenWriter& writer, const OpenFilter& filter, const Moment& now);
  void take(const SeenLogEntry& entry, SeenWriter& writer, const Moment& now);
  const OpenFilter& filter_for(const SeenLogEntry& entry, SeenWriter& writer, const Moment& now) const;

  const SeenConfig& config_;
  std::string log_;
  bool is_receiving_ = false;
  RefusedEntries refused_;
  FilterId sending_{};      // the first filter of which something may be left
  std::uint64_t word_ = 0;  // of it
  std::optional<Error> unsent_;
  std::map<FilterId, std::uint64_t> sent_;  // tags of each filter
  std::uint64_t merged_ = 0;
  std::uint64_t saved_ = 0;
  BootSeconds looked_for_own_at_ = 0;
};

}  // namespace keysieve
