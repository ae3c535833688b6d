// Shared by the suites of records, logs and watches, which run over every kind of store.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/store_calls.hpp"
#include "tests/support/store_kinds.hpp"

namespace keysieve::test {

class StoreConformance : public ::testing::TestWithParam<StoreKind> {
 protected:
  [[nodiscard]] std::unique_ptr<Store> open() const { return GetParam().open(url_); }
  std::unique_ptr<Store> open_with(const std::string& parameter) const {
    return GetParam().open(with_parameter(url_, parameter));
  }

  TemporaryDirectory directory_;
  std::string url_ = GetParam().empty_store(directory_);
};

}  // namespace keysieve::test
