#include "tools/transfer/adds_writer.hpp"

#include "tools/transfer/adds_log.hpp"

namespace keysieve {
namespace {

// Each call syncs once. `seq 1000000 | keysieve add tags --file - URL` took 0.7 s in a folder and 1.5 s in
// LMDB, and 7 and 14 s by 1,024 keys per call.
constexpr std::size_t kBatchKeys = 8192;
constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

}  // namespace

AddsWriter::AddsWriter(Store& store, const std::string& set_name)
    : store_(store), log_(adds_log(store, set_name)) {}

void AddsWriter::add(std::string_view key) {
  batch_.emplace_back(key);
  batch_bytes_ += key.size();
  if (batch_.size() >= kBatchKeys || batch_bytes_ >= kBatchBytes) finish();
}

void AddsWriter::finish() {
  if (batch_.empty()) return;
  last_position_ = store_.append(log_, batch_);
  appended_ += batch_.size();
  batch_.clear();
  batch_bytes_ = 0;
}

}  // namespace keysieve
