// A store whose writers use a folder, and whose readers the web server that shows it.
#pragma once

#include <memory>
#include <string>

#include "tests/support/store_decorator.hpp"
#include "tests/support/web_server.hpp"

namespace keysieve::test {

// Reads by a new connection each time, as keysieved does once per poll.
class ServedStore : public StoreDecorator {
 public:
  // The URL of a folder of the shared web server.
  explicit ServedStore(const std::string& url) : ServedStore(url, open_store(folder_url(url))) {}

  std::optional<std::string> get(const std::string& key) override { return web()->get(key); }
  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    return web()->get_many(keys);
  }
  std::vector<std::optional<std::string>> get_immutable(std::span<const std::string> keys) override {
    return web()->get_immutable(keys);
  }
  std::vector<LogEntry> read_after(const std::string& log, const LogPosition& after,
                                   std::size_t max_entries) override {
    return web()->read_after(log, after, max_entries);
  }
  LogPosition end_of(const std::string& log) override { return web()->end_of(log); }
  LogFacts facts_of(const std::string& log) override { return web()->facts_of(log); }

 private:
  ServedStore(const std::string& url, std::unique_ptr<Store> folder)
      : StoreDecorator(*folder), folder_(std::move(folder)), open_(opener_of(url)) {}

  static std::string folder_url(const std::string& url) {
    const std::size_t query = url.find('?');
    const std::string path = url.substr(0, query);
    return "dir:" + shared_web_server().folder(path.substr(path.rfind('/') + 1)) + url.substr(query);
  }
  std::unique_ptr<Store> web() { return open_(IfMissing::Refuse, Patience::None); }

  std::unique_ptr<Store> folder_;
  StoreOpener open_;
};

}  // namespace keysieve::test
