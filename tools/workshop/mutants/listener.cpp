// Compiled into each test program by tools/workshop/mutants/run: appends a line to the file
// KEYSIEVE_REACHED.cases for each case that passes: its name, the seconds that it took, and the mutants that
// it reached. What runs between two cases counts for the second one.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tools/workshop/mutants/mutant.hpp"

namespace keysieve_mutants {
namespace {

class Listener : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    const testing::TestResult& result = *test.result();
    if (result.Passed() && !result.Skipped()) {
      std::ofstream cases(std::getenv("KEYSIEVE_REACHED") + std::string(".cases"), std::ios::app);
      cases << test.test_suite_name() << '.' << test.name() << '\t' << result.elapsed_time() << "e-3\t";
      for (std::size_t number = 0; number < reached.count; ++number) {
        if (reached.bytes[number] != 0) cases << number << ' ';
      }
      cases << '\n';
    }
    for (std::size_t number = 0; number < reached.count; ++number) reached.bytes[number] = 0;
  }
};

[[maybe_unused]] const bool is_listening = [] {
  if (reached.bytes != nullptr) testing::UnitTest::GetInstance()->listeners().Append(new Listener);
  return reached.bytes != nullptr;
}();

}  // namespace
}  // namespace keysieve_mutants
