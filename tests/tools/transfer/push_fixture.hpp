// Pushes of the set "tags" into a store of plain files, whose chunks the suites of push look at.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/temporary_directory.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/transfer/chunk.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {

class PushFixture : public ::testing::Test {
 protected:
  PushResult push(const SnapshotBytes& snapshot, const Guards& guards = {}) {
    return keysieve::push(*store_, view_of(snapshot), guards);
  }

  // Of all records.
  [[nodiscard]] std::vector<std::string> keys() const { return store_->keys_with_prefix("keysieve:"); }

  [[nodiscard]] bool has_chunks_of(const SnapshotBytes& snapshot) const {
    const auto all = keys();
    return std::any_of(all.begin(), all.end(), [&](const std::string& key) {
      if (!key.ends_with(":0")) return false;
      const std::string chunk = store_->get(key).value();
      const auto header = load<SnapshotHeader>(as_bytes(chunk).data() + kChunkHeaderBytes);
      return header.build_id == view_of(snapshot).header().build_id;
    });
  }

  [[nodiscard]] PointerRecord pointer() const { return read_stored_pointer(*store_, "tags").value(); }
  [[nodiscard]] SnapshotRecord current() const { return pointer().current.value(); }

  TemporaryDirectory directory_{fast_folder()};
  std::string url_ = "dir:" + directory_ / "store";
  std::unique_ptr<Store> store_ = open_store(url_);
};

}  // namespace keysieve::test
