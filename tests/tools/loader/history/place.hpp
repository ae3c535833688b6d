// Where the store of a history is, and what can befall it there.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tests/support/memcached_server.hpp"
#include "tests/support/relay.hpp"
#include "tests/support/web_server.hpp"

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

class Folder : public Place {
 public:
  Folder(std::string scheme, std::string path) : scheme_(std::move(scheme)), path_(std::move(path)) {}

  [[nodiscard]] std::string url() const override { return scheme_ + ":" + path_; }
  [[nodiscard]] bool is_up() const override { return std::filesystem::exists(path_); }
  void take_down() override { std::filesystem::rename(path_, path_ + ".away"); }
  void bring_up() override { std::filesystem::rename(path_ + ".away", path_); }

  bool replicate() override {
    std::filesystem::remove_all(replica());
    std::filesystem::copy(path_, replica(), std::filesystem::copy_options::recursive);
    return true;
  }
  bool fail_over() override {
    if (!std::filesystem::exists(replica())) return false;
    std::filesystem::remove_all(path_);
    std::filesystem::copy(replica(), path_, std::filesystem::copy_options::recursive);
    return true;
  }

 private:
  [[nodiscard]] std::string replica() const { return path_ + ".replica"; }

  std::string scheme_;
  std::string path_;
};

class ServedFolder final : public Folder {
 public:
  explicit ServedFolder(const std::string& name)
      : Folder("dir", shared_web_server().folder(name)), name_(name) {}
  ~ServedFolder() override {
    for (const std::string end : {"", ".away", ".replica"})
      std::filesystem::remove_all(shared_web_server().folder(name_ + end));
  }

  [[nodiscard]] std::string url_of_hosts() const override {
    return shared_web_server().url(name_) + "?timeout=2m";
  }

 private:
  std::string name_;
};

class Cache final : public Place {
 public:
  explicit Cache(const std::string& socket_path)
      : relay_(socket_path, shared_memcached().socket_path()),
        url_("memcached+unix://" + socket_path + "?timeout=2m") {
    shared_memcached().flush();
  }

  [[nodiscard]] std::string url() const override { return url_; }
  [[nodiscard]] bool is_up() const override { return is_up_; }
  void take_down() override {
    relay_.hang_up();
    is_up_ = false;
  }
  void bring_up() override {
    relay_.start();
    is_up_ = true;
  }

  bool replicate() override { return false; }
  bool fail_over() override {
    shared_memcached().flush();
    return true;
  }

 private:
  Relay relay_;
  std::string url_;
  bool is_up_ = true;
};

inline std::unique_ptr<Place> Place::make(const std::string& scheme, const std::string& root) {
  if (scheme == "memcached") return std::make_unique<Cache>(root + "/memcached.sock");
  if (scheme != "http") return std::make_unique<Folder>(scheme, root + "/store");
  return std::make_unique<ServedFolder>(std::filesystem::path(root).filename().string());
}

}  // namespace keysieve::test
