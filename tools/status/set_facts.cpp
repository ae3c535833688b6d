#include "tools/status/set_facts.hpp"

#include <algorithm>
#include <filesystem>

#include "core/builder/base/folder_names.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"

namespace keysieve {
namespace {

Bypasses bypasses_of(const ControlPage& control, UnixSeconds now) {
  const std::uint64_t word = control.current.load(std::memory_order_acquire);
  const BypassEnds ends = ends_of(control);
  const std::uint64_t in_force = bypasses_in_force(word, ends, now);
  const auto until = [in_force](const BypassSwitch& bypass, UnixSeconds end) {
    return (in_force & bypass.bit) != 0 ? std::optional(end) : std::nullopt;
  };
  const auto [operator_end, store_end] = ends;  // as kBypassSwitches
  return {until(kOperatorBypass, operator_end), until(kStoreBypass, store_end),
          (in_force & kAddsLostBit) != 0};
}

// Lookups come back as maybe without a bypass.
bool is_out_of_order(const SetFacts& set) noexcept {
  return set.trouble ||
         (set.availability != Availability::Ready && set.availability != Availability::Bypassed);
}

// Compares all of a publication with its checksums; in the live layer only the header has one.
void verify(const Attachment& attached, SetFacts& set) {
  try {
    const std::string name = "publication " + std::to_string(attached.id().publication);
    static_cast<void>(SnapshotView::decode(attached.snapshot().bytes(), name, Check::Everything));
  } catch (const Error& error) {
    set.trouble = error.kind();
    set.reason = error.what();
    set.troubles.insert(set.troubles.begin(), code_of(set));
  }
}

}  // namespace

SetFacts set_facts(const SetReader& reader, UnixSeconds now, Reading reading) {
  SetFacts set;
  set.name = reader.set_name();
  set.availability = reader.availability();
  set.trouble = reader.trouble();
  set.reason = std::string(reader.reason());
  if (is_out_of_order(set)) set.troubles.push_back(code_of(set));
  if (reader.control() == nullptr) return set;
  const ControlPage& control = *reader.control();
  for (const std::string_view code :
       troubles_of_loader(Troubles(control.troubles.load(std::memory_order_relaxed)),
                          control.next_look.load(std::memory_order_relaxed), now)) {
    set.troubles.push_back(code);
  }
  set.bypasses = bypasses_of(control, now);
  const std::string_view adds_lost = to_string(Trouble::AddsLost);  // the loader may have said another one
  if (set.bypasses->is_for_lost_adds && std::ranges::count(set.troubles, adds_lost) == 0)
    set.troubles.push_back(adds_lost);
  if (reader.attachment() == nullptr) return set;
  set.published = live_publication(*reader.attachment(), control, reading);
  if (reading == Reading::Checksums) verify(*reader.attachment(), set);
  return set;
}

SetFacts set_facts(const std::string& directory, const std::string& set_name, UnixSeconds now,
                   Reading reading) {
  SetReader reader = status_reader(directory, set_name);
  reader.follow();
  return set_facts(reader, now, reading);
}

std::string_view code_of(const SetFacts& set) noexcept {
  const bool is_bypassed = set.availability == Availability::Bypassed && !set.trouble;
  if (is_bypassed && set.bypasses && set.bypasses->is_for_lost_adds) return to_string(Trouble::AddsLost);
  return set.trouble ? to_string(*set.trouble) : to_string(set.availability);
}

std::vector<std::string_view> troubles_of_loader(const Troubles& troubles, UnixSeconds next_look,
                                                 UnixSeconds now) {
  std::vector<std::string_view> codes = troubles.names();
  if (next_look != 0 && now > next_look) codes.push_back(to_string(Trouble::LoaderSilent));
  return codes;
}

UnixSeconds Bypasses::until() const noexcept {
  if (by_operator == 0 || in_store == 0) return 0;
  return std::max(by_operator.value_or(0), in_store.value_or(0));
}

DirectoryStatus directory_status(const std::string& directory) {
  return {.directory = directory, .memory = memory_use(directory), .huge_pages = huge_page_policy(directory)};
}

std::vector<std::string> sets_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code failure;
  for (const std::string& name : names_in(directory, failure)) {
    std::error_code unreadable;
    if (is_set_name(name) &&
        std::filesystem::is_directory(std::filesystem::path(directory) / name, unreadable))
      names.push_back(name);
  }
  if (failure) throw_read_error("directory " + directory, failure.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace keysieve
