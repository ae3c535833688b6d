// All sets of one configuration: a round refreshes one after the other. Made anew at a reload; what matters
// is in shared memory and in the cache.
#pragma once

#include <functional>
#include <list>
#include <string>

#include "tools/loader/config.hpp"
#include "tools/loader/set_refresher.hpp"

namespace keysieve {

class Loader {
 public:
  // `on_progress` is called before each set and while a snapshot is pulled; false ends the round there, from
  // then on it must stay false: a pull that was left is not published.
  Loader(const LoaderConfig& config, std::function<bool()> on_progress);
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // A set in trouble does not keep the others from being refreshed.
  void round();
  // The next round asks every store, however short ago it failed.
  void try_again_now();

  // As of the last round: no set holds it back.
  [[nodiscard]] bool is_ready() const;
  // 0 when every set is live and equal to its store, else the highest of the sets' exit statuses.
  [[nodiscard]] int exit_status() const;
  // "2 of 3 sets current; tags: …"
  [[nodiscard]] std::string summary() const;

 private:
  std::function<bool()> on_progress_;
  std::list<StoreConnection> stores_;
  std::list<SetRefresher> refreshers_;
};

}  // namespace keysieve
