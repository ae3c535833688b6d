// Built-in key profiles: what a key looks like that was made by their rules. `keysieve build` checks its
// lists by them. The package makes such keys: php/src/Keys has a class for each profile.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tools/keys/key_file.hpp"

namespace keysieve {

// Their names, for help.
std::string built_in_profiles();

// Whether a list may hold domains below which anyone can register one. What is known to be absent may.
enum class PublicSuffixes { Suspect, Allow };

// Watches the keys of one list.
class ProfileCheck {
 public:
  // A profile of another name is an application's own: it allows all keys. Throws MissingInput if the list of
  // public suffixes is needed and libpsl has none.
  explicit ProfileCheck(std::string_view profile, PublicSuffixes suffixes = PublicSuffixes::Suspect);

  // Any thread.
  void see(std::string_view key);
  // Call it when all threads have ended. Throws Data, which shows keys that the profile does not allow. Adds
  // a grave suspicion to `read` about domains that are public suffixes: with com.ar in a list of bad domains,
  // every address below it is refused.
  void finish(const std::string& source, KeysRead& read) const;

 private:
  struct Found {
    std::uint64_t count = 0;
    std::vector<std::string> first;  // some of them
  };
  static std::string shown(const Found& found);

  std::string_view profile_;
  bool (*allows_)(std::string_view key) = nullptr;  // nullptr: everything
  bool suspects_suffixes_ = false;
  std::mutex mutex_;  // guards what was found
  Found refused_;
  Found suffixes_;
};

}  // namespace keysieve
