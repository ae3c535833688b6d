// keysieved running for one site.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/tools/loader/keysieved_process.hpp"
#include "tests/tools/loader/site.hpp"

namespace keysieve::test {

class Keysieved : public ::testing::Test {
 protected:
  void start(const std::vector<std::string>& environment = {}) {
    keysieved_.emplace(std::vector<std::string>{"--log-level", "debug", "--config", site_.config_path()},
                       environment);
  }
  // Generation 1 is live. `rest` is configured as well.
  void follow_tags(const std::string& rest = "", const std::string& poll_interval = "20ms") {
    site_.push("tags", kKeys);
    site_.configure(rest + tags_set, site_.store_url(), poll_interval);
    start();
    ASSERT_TRUE(follows("tags", 1)) << log();
  }
  [[nodiscard]] bool follows(const std::string& set_name, std::uint64_t generation) const {
    return eventually([&] { return site_.live_generation(set_name) == generation; });
  }
  // So many further rounds have found the trouble that was said already.
  [[nodiscard]] bool looks_again(int rounds) const {
    const int before = keysieved_->lines_with("still:");
    return eventually([&] { return keysieved_->lines_with("still:") >= before + rounds; });
  }
  [[nodiscard]] bool says(const std::string& text) const { return keysieved_->says(text); }
  [[nodiscard]] std::string log() const { return keysieved_->standard_error(); }

  Site site_;
  std::optional<KeysievedProcess> keysieved_;
};

}  // namespace keysieve::test
