#include "tools/status/set_status.hpp"

#include <algorithm>

#include "core/publisher/shm/memory_use.hpp"
#include "core/publisher/shm/publisher_folder.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

BypassStatus bypass_status(const ControlPage& control, const BypassSwitch& bypass, std::uint64_t in_force) {
  if ((in_force & bypass.bit) == 0) return {};
  return {.is_on = true, .until = (control.*bypass.until).load(std::memory_order_relaxed)};
}

BypassesStatus bypasses_status(const ControlPage& control, UnixSeconds now) {
  const std::uint64_t in_force =
      bypasses_in_force(control, control.current.load(std::memory_order_acquire), now);
  return {.by_operator = bypass_status(control, kOperatorBypass, in_force),
          .in_store = bypass_status(control, kStoreBypass, in_force)};
}

PublicationStatus publication_status(const Attachment& attached, const ControlPage& control,
                                     HugePages huge_pages) {
  const SnapshotView& snapshot = attached.snapshot();
  const SnapshotHeader& header = snapshot.header();
  return {
      .publication = attached.id().publication,
      .generation = attached.live().generation,
      .kind = std::string(snapshot.kind().name),
      .key_profile = std::string(snapshot.key_profile()),
      .key_count = header.key_count,
      .known_absent = known_absent_of(header),
      .bytes = header.file_bytes,
      .format = header.format,
      .estimated_fpr = header.estimated_fpr,
      .as_of = header.as_of,
      .published_at = attached.live().published_at,
      .valid_until = snapshot.valid_until(),
      .last_confirmed = control.last_confirmed.load(std::memory_order_relaxed),
      .heartbeat = control.heartbeat.load(std::memory_order_relaxed),
      .layer = {.bytes = attached.layer().geometry().bytes(),
                .keys = attached.layer().keys(),
                .fill = layer_fill(attached.layer())},
      .huge_page_bytes = huge_pages == HugePages::Count ? huge_page_bytes(snapshot.bytes()) : std::nullopt};
}

// Lookups come back as maybe, and nobody has switched them off.
bool is_out_of_order(const SetStatus& status) noexcept {
  return status.trouble ||
         (status.availability != Availability::Ready && status.availability != Availability::Bypassed);
}

}  // namespace

std::optional<std::uint64_t> known_absent_of(const SnapshotHeader& header) noexcept {
  return header.retrieval_bytes == 0 ? std::nullopt : std::optional(header.known_absent);
}

SetReader status_reader(const std::string& directory, const std::string& set_name) {
  return {{.directory = directory, .trusted_owner = trusted_owner_of(directory, set_name), .max_jitter = {}},
          set_name};
}

SetStatus set_status(const SetReader& reader, UnixSeconds now, HugePages huge_pages) {
  SetStatus status{.name = reader.set_name(),
                   .availability = reader.availability(),
                   .trouble = reader.trouble(),
                   .reason = std::string(reader.reason()),
                   .bypasses = {},
                   .published = {},
                   .damage = {},
                   .troubles = {}};
  if (is_out_of_order(status)) status.troubles.push_back(code_of(status));
  if (reader.control() == nullptr) return status;
  const ControlPage& control = *reader.control();
  for (const std::string_view code :
       troubles_of_loader(Troubles(control.troubles.load(std::memory_order_relaxed)),
                          control.next_look.load(std::memory_order_relaxed), now)) {
    status.troubles.push_back(code);
  }
  status.bypasses = bypasses_status(*reader.control(), now);
  if (reader.attachment() != nullptr) {
    status.published = publication_status(*reader.attachment(), *reader.control(), huge_pages);
  }
  return status;
}

std::optional<std::string> damage_of(const SetReader& reader) {
  const Attachment* attachment = reader.attachment();
  if (attachment == nullptr) {
    return reader.trouble() == ErrorKind::Data ? std::optional<std::string>(reader.reason()) : std::nullopt;
  }
  try {
    static_cast<void>(SnapshotView::decode(attachment->snapshot().bytes(),
                                           "publication " + std::to_string(attachment->id().publication),
                                           Check::Everything));
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

std::string_view code_of(const SetStatus& status) noexcept {
  return status.trouble ? to_string(*status.trouble) : to_string(status.availability);
}

std::vector<std::string_view> troubles_of_loader(const Troubles& troubles, UnixSeconds next_look,
                                                 UnixSeconds now) {
  std::vector<std::string_view> codes = troubles.names();
  if (next_look != 0 && now > next_look) codes.push_back(kLoaderSilent);
  return codes;
}

UnixSeconds bypassed_until(const BypassesStatus& bypasses) noexcept {
  UnixSeconds last = 0;
  for (const BypassStatus& bypass : {bypasses.by_operator, bypasses.in_store}) {
    if (bypass.is_on && bypass.until == 0) return 0;
    last = std::max(last, bypass.until);
  }
  return last;
}

}  // namespace keysieve
