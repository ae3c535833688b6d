// Where the store of a history is, and what can befall it there.
#pragma once

#include <memory>
#include <string>

namespace keysieve::test {

class Place {
 public:
  // "lmdb", "dir", "http" (a dir: store that the hosts read from a web server) or "memcached".
  static std::unique_ptr<Place> make(const std::string& scheme, const std::string& root);
  virtual ~Place() = default;

  [[nodiscard]] virtual std::string url() const = 0;
  // What the hosts are configured with.
  [[nodiscard]] virtual std::string url_of_hosts() const { return url(); }

  [[nodiscard]] virtual bool is_up() const = 0;
  virtual void take_down() = 0;
  virtual void bring_up() = 0;

  // A replica takes over everything; false if there can be none.
  virtual bool replicate() = 0;
  // The replica takes the store's place, or, if there can be none, an empty store does. False if nothing was
  // replicated.
  virtual bool fail_over() = 0;
};

}  // namespace keysieve::test
