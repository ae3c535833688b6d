// A configuration file of keysieved in a folder of its own, and what reading it gives or says.
#pragma once

#include <gtest/gtest.h>

#include "core/worker/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/tools/loader/site.hpp"
#include "tools/loader/config/config.hpp"

namespace keysieve::test {

class LoadedConfig : public ::testing::Test {
 protected:
  static constexpr const char* kStore = "[store.main]\nurl = \"lmdb:/var/lib/keysieve\"\n";

  LoaderConfig load(const std::string& text) {
    site_.write("keysieve.toml", text);
    return load_config(site_.config_path());
  }
  // What the error says, without the root's path.
  std::string refusal(const std::string& text) {
    const std::string message = message_of<ErrorKind::Config>([&] { load(text); });
    const std::string root = site_.root().path() + "/";
    const auto at = message.find(root);
    return at == std::string::npos ? message : message.substr(0, at) + message.substr(at + root.size());
  }
  // The wrong part is line 1, above a configuration that is right.
  static std::string with_line(const std::string& line) { return line + "\n" + kStore + tags_set; }

  Site site_;
};

}  // namespace keysieve::test
