// The sets that one store holds for the patterns of the configuration: finds new ones, and knows which are
// followed. Once found, a set is followed until `keysieve delete` or the configuration ends that, whatever
// else the store answers: one that has lost its records holds none of them. Used by the loader alone.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tools/loader/config/config.hpp"
#include "tools/loader/refresh/store_connection.hpp"
#include "tools/loader/report/pattern_report.hpp"
#include "tools/transfer/stored_sets.hpp"

namespace keysieve {

class FoundSets {
 public:
  // Longer than any good answer. Meanwhile nothing is refreshed.
  static constexpr std::chrono::seconds kLongestLook{60};

  // The configuration must outlive it. Has a connection of its own, so that a list that fails does not keep
  // the sets from being refreshed.
  FoundSets(const LoaderConfig& config, const StoreConfig& store, OpenStore open,
            std::chrono::milliseconds longest_look = kLongestLook);

  // The store has no patterns.
  [[nodiscard]] bool empty() const noexcept { return patterns_.empty(); }

  // Follows a set that was followed before, as many as there are, if the pattern that covers it is of this
  // store.
  void remember(const std::string& set_name);
  // It was deleted. False if it is none of these sets.
  bool drop(const std::string& set_name);

  // Follows those sets of the store that are new, and returns them. Nothing when the store cannot be asked.
  // Whatever it answers, they have valid names, which no exact name and no earlier pattern of another store
  // matches, a current generation, and there is room for them; the reports say what else there was.
  // `on_progress` is called now and then; if it returns false, throws Stopped.
  std::vector<SetConfig> look(const std::function<bool()>& on_progress);
  // Instead of a look: the store was just asked for its sets, and has failed.
  void cannot_look(const Error& error);
  // A look that takes long, because the store holds many other records, comes less often.
  [[nodiscard]] bool is_due(SteadyTime now) const noexcept { return now >= due_at_; }
  void try_again_now();

  // The sets that a look has found were refreshed.
  void end_first_look();
  // Whether it is known, for each pattern, which sets this host should have.
  [[nodiscard]] bool was_looked_at() const noexcept;

  // Why a restart without the store would miss some; empty: it would not.
  void saved(const std::string& failure);

  [[nodiscard]] std::vector<SetConfig> followed() const;
  [[nodiscard]] std::vector<PatternReport> reports() const;
  [[nodiscard]] const StoreConnection& connection() const noexcept { return connection_; }

 private:
  struct Pattern {
    const SetPattern* config;
    std::set<std::string> names{};
    bool is_looked_at = false;
    std::size_t left_out = 0;     // by max_sets
    std::string first_problem{};  // of the last look
    int exit_status = 0;          // of that
    std::size_t more_problems = 0;
    std::string unsaved{};
    std::string said{};

    void note(ErrorKind kind, const std::string& problem);
    [[nodiscard]] PatternReport report() const;
  };

  void look(Store& store, const ListLimits& limits, std::vector<SetConfig>& fresh);
  void take(const StoredSet& set, std::vector<SetConfig>& fresh);
  [[nodiscard]] KeyPattern names_of_all() const;
  [[nodiscard]] Pattern* pattern_of(const std::string& set_name);
  void say();

  const LoaderConfig& config_;
  std::vector<Pattern> patterns_;
  StoreConnection connection_;
  std::chrono::milliseconds longest_look_;
  SteadyTime due_at_{};
  std::string next_name_{};  // where a look that took too long goes on
};

}  // namespace keysieve
