// The sets that a store holds for one pattern of the configuration: finds new ones, and knows which are
// followed. Used by the loader alone.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tools/loader/config/config.hpp"
#include "tools/loader/refresh/store_connection.hpp"
#include "tools/loader/report/pattern_report.hpp"

namespace keysieve {

class FoundSets {
 public:
  explicit FoundSets(SetPattern pattern);

  // Follows the set from now on; false if there is no room for it.
  bool take(const std::string& set_name);
  // The store does not hold it any more.
  void drop(const std::string& set_name) { names_.erase(set_name); }

  // Names that the store holds and that may be taken. Nothing when it cannot be asked. Whatever the store
  // answers, they are valid, match this pattern alone and no exact name, have a current generation, and there
  // is room for them; the report says what else there was.
  std::vector<std::string> look(StoreConnection& connection, const LoaderConfig& config);
  // A look that takes long, because the store holds many other records, comes less often.
  [[nodiscard]] bool is_due(SteadyTime now) const noexcept { return now >= due_at_; }
  void try_again_now() noexcept { due_at_ = {}; }
  // What the first look has found was refreshed; until then nobody knows what is missing on this host.
  void end_first_look() noexcept { is_first_look_ = false; }
  [[nodiscard]] bool was_looked_at() const noexcept { return !is_first_look_; }

  [[nodiscard]] const SetPattern& pattern() const noexcept { return pattern_; }
  [[nodiscard]] const std::set<std::string>& names() const noexcept { return names_; }
  [[nodiscard]] PatternReport report() const;

 private:
  std::vector<std::string> strangers(Store& store, const LoaderConfig& config);
  std::vector<std::string> look(Store& store, const LoaderConfig& config);
  void note(ErrorKind kind, const std::string& problem);
  void say();

  SetPattern pattern_;
  std::set<std::string> names_;
  SteadyTime due_at_{};
  bool is_first_look_ = true;
  std::string first_problem_;  // of the last look
  int exit_status_ = 0;        // of that
  std::size_t more_problems_ = 0;
  std::string said_;
};

}  // namespace keysieve
