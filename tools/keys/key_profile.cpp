#include "tools/keys/key_profile.hpp"

#include <fmt/core.h>
#include <libpsl.h>

#include <algorithm>
#include <array>

#include "core/worker/base/error.hpp"
#include "tools/keys/suspect_lines.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

bool consists_of(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

// Lengths are those of RFC 1035, without the dot at the end. `_` is in names of services.
bool is_domain(std::string_view key) {
  constexpr std::size_t kMostBytes = 253;
  constexpr std::size_t kMostLabelBytes = 63;
  if (key.size() > kMostBytes) return false;
  for (;;) {
    const std::size_t dot = std::min(key.find('.'), key.size());
    if (dot == 0 || dot > kMostLabelBytes) return false;
    if (!consists_of(key.substr(0, dot), "abcdefghijklmnopqrstuvwxyz0123456789_-")) return false;
    if (dot == key.size()) return true;
    key.remove_prefix(dot + 1);
  }
}

bool is_integer(std::string_view key) {
  constexpr std::size_t kMostDigits = 20;  // of 64 bits
  if (key == "0") return true;
  if (key.starts_with('-')) key.remove_prefix(1);
  return !key.empty() && key.size() <= kMostDigits && key[0] != '0' && consists_of(key, "0123456789");
}

bool is_sha1(std::string_view key) {
  constexpr std::size_t kDigits = 40;
  return key.size() == kDigits && consists_of(key, "0123456789ABCDEF");
}

struct Profile {
  std::string_view name;
  bool (*allows)(std::string_view key);
};

constexpr std::array kProfiles{
    Profile{"domain-ascii-v1", is_domain},
    Profile{"integer-v1", is_integer},
    Profile{"sha1-upper-v1", is_sha1},
};

// Only those that registries have, not github.io and the like, whose owners give anyone a name below.
bool is_public_suffix(std::string_view domain) {
  return psl_is_public_suffix2(psl_builtin(), std::string(domain).c_str(),
                               PSL_TYPE_ICANN | PSL_TYPE_NO_STAR_RULE) != 0;
}

}  // namespace

std::string built_in_profiles() {
  std::string names;
  for (const Profile& profile : kProfiles) names += (names.empty() ? "" : ", ") + std::string(profile.name);
  return names;
}

ProfileCheck::ProfileCheck(std::string_view profile, PublicSuffixes suffixes) : profile_(profile) {
  const auto* found = std::ranges::find(kProfiles, profile, &Profile::name);
  if (found != kProfiles.end()) allows_ = found->allows;
  suspects_suffixes_ = allows_ == is_domain && suffixes == PublicSuffixes::Suspect;
  if (suspects_suffixes_ && psl_builtin() == nullptr) {
    throw Error(ErrorKind::MissingInput,
                "the key profile " + std::string(profile) +
                    " needs the list of public suffixes, which this libpsl was built "
                    "without");
  }
}

void ProfileCheck::see(std::string_view key) {
  constexpr std::size_t kShown = 10;
  if (allows_ == nullptr) return;
  const bool is_allowed = allows_(key);
  if (is_allowed && !(suspects_suffixes_ && is_public_suffix(key))) return;
  const std::lock_guard lock(mutex_);
  Found& found = is_allowed ? suffixes_ : refused_;
  if (++found.count <= kShown) found.first.emplace_back(key);
}

std::string ProfileCheck::shown(const Found& found) {
  const std::vector<std::string_view> first(found.first.begin(), found.first.end());
  return format_count_of(found.count, "key") + ": " + examples(first, first.size()) +
         (found.count > first.size() ? ", ..." : "");
}

void ProfileCheck::finish(const std::string& source, KeysRead& read) const {
  if (refused_.count != 0) {
    throw Error(ErrorKind::Data,
                fmt::format("{}: the key profile {} does not allow {}", source, profile_, shown(refused_)));
  }
  if (suffixes_.count == 0) return;
  read.suspicions.push_back(
      {.sentence = "anyone can register a domain below " + shown(suffixes_), .is_grave = true});
}

}  // namespace keysieve
