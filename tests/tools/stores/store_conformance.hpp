// What the suites of records, of logs and of watches share, which run over every kind of store.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/store_kinds.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {

class StoreConformance : public ::testing::TestWithParam<StoreKind> {
 protected:
  [[nodiscard]] std::unique_ptr<Store> open() const { return open_store(url_); }

  static void put(Store& store, const std::string& key, const std::string& value) {
    const Record record{key, value};
    store.put_many(std::span(&record, 1));
  }

  static LogPosition append(Store& store, const std::string& log, std::vector<std::string> keys) {
    return store.append(log, keys);
  }

  TemporaryDirectory directory_;
  std::string url_ = GetParam().empty_store(directory_);
};

}  // namespace keysieve::test
