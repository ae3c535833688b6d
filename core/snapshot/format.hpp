// The numbers of the snapshot format that a version knows: the newest and the one before. It reads both and
// can build both, so that a host and its builders need not be upgraded in one moment; docs/upgrade.md says in
// which order they are.
#pragma once

#include <cstdint>
#include <string>

namespace keysieve {

// What is built unless another is asked for. Alone in its file, so that the tests can link programs of the
// next number.
std::uint16_t newest_snapshot_format() noexcept;
std::uint16_t oldest_snapshot_format() noexcept;

// "1", or "1 and 2".
std::string snapshot_formats_text();

// Throws Incompatible that begins with `source` and says what to do about another.
void check_snapshot_format(std::uint16_t format, const std::string& source);

}  // namespace keysieve
