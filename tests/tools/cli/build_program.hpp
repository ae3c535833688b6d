// Builds the set "tags" by the program.
#pragma once

#include <filesystem>

#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {

class Build : public KeysieveProgram {
 protected:
  // A build of set "tags" into new.ks that must be refused; new.ks must not be there afterwards.
  [[nodiscard]] std::string refused(int exit_status, const Words& options,
                                    const std::string& input = "") const {
    const std::string reason = refusal(exit_status, Words{"build", "-o", path("new.ks")} + options, input);
    EXPECT_FALSE(std::filesystem::exists(path("new.ks"))) << reason;
    return reason;
  }

  const std::string keys_ = write("keys.txt", numbered_lines(100));
};

}  // namespace keysieve::test
