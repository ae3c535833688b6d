// Pushes of the set "tags" into a store of plain files, whose chunks the suites of push look at.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

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

  // Names of all files but the store's lock: a file's name is its record's key.
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_ / "store")) {
      const std::string name = entry.path().filename();
      if (name != ".lock") names.push_back(name);
    }
    return names;
  }

  [[nodiscard]] bool has_chunks_of(const SnapshotBytes& snapshot) const {
    const auto names = keys();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      if (!name.ends_with(":0")) return false;
      const std::string chunk = store_->get(name).value();
      const auto header = load<SnapshotHeader>(as_bytes(chunk).data() + kChunkHeaderBytes);
      return header.build_id == view_of(snapshot).header().build_id;
    });
  }

  [[nodiscard]] PointerRecord pointer() const { return read_stored_pointer(*store_, "tags").value(); }
  [[nodiscard]] SnapshotRecord current() const { return pointer().current.value(); }

  TemporaryDirectory directory_;
  std::string url_ = "dir:" + directory_ / "store";
  std::unique_ptr<Store> store_ = open_store(url_);
};

}  // namespace keysieve::test
