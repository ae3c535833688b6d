// A dir: store behind a web server of the case's own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/matchers.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/support/web_server.hpp"

namespace keysieve::test {

// A folder "tags" with a record.
class HttpStore : public ::testing::Test {
 protected:
  void serve(WebServerSettings settings = {}) {
    server_.emplace(std::move(settings));
    folder_ = server_->make_folder("tags");
    put(*open_store("dir:" + folder_), "keysieve:seed", "x");
  }
  [[nodiscard]] std::string url(const std::string& query = "?timeout=2m",
                                const std::string& scheme = "http") const {
    return server_->url("tags", scheme) + query;
  }
  static std::optional<std::string> seed(const std::string& url) {
    return open_store(url)->get("keysieve:seed");
  }
  template <ErrorKind Kind>
  static std::string refusal(const std::string& url) {
    return message_of<Kind>([&] { seed(url); });
  }
  // The answers since the last call.
  std::vector<std::string> new_answers(std::size_t count) {
    EXPECT_TRUE(eventually([&] { return server_->answers().size() >= seen_ + count; }));
    std::vector<std::string> all = server_->answers();
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(seen_));
    seen_ += all.size();
    return all;
  }

  std::optional<WebServer> server_;
  std::string folder_;
  std::size_t seen_ = 0;
};

}  // namespace keysieve::test
