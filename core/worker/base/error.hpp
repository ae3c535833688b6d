// The errors of cold paths. Every message names the file, set or URL concerned and, where a system call
// failed, its errno text. Callers decide by the kind. "Throws Data" in a comment means an Error of that kind.
// The lookup path throws nothing.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace keysieve {

enum class ErrorKind : std::uint8_t {
  Usage,         // the caller asked for something out of range
  Config,        // a configuration file is wrong
  Data,          // bytes that were read are wrong: key list, snapshot, record
  Incompatible,  // well formed, but in a format or kind that this build does not support
  MissingInput,  // a file that must be read is not there or cannot be opened
  CannotCreate,  // something that must be written cannot be
  Permission,    // the system does not allow it
  NotTrusted,    // belongs to another user, or others may write to it
  Locked,        // another process is doing the same; try again later
  Unavailable,   // a store cannot be reached or does not answer
  Unconfirmed,   // the request was carried out, but a store does not confirm it
  Login,         // a server refuses user, password or certificate, or the password cannot be read
  // A snapshot that is intact but not wanted:
  NotSigned,  // by a key that it must be signed by, or the signature does not match
  Older,      // than the one that is there already
  MaxSize,    // the guards, by the names of their settings
  MinKeys,
  MaxShrink,
  MaxFpr,
  MaxChanged,
  RequiredKeys,
  KnownAbsentSample,  // the snapshot's own check of its known-absent keys
};

// For JSON and labels of metrics.
inline constexpr auto kErrorKindNames =
    std::to_array<std::string_view>({"usage",        "configuration", "damaged",
                                     "incompatible", "missing",       "cannot_create",
                                     "permission",   "not_trusted",   "locked",
                                     "unavailable",  "unconfirmed",   "login",
                                     "signature",    "older",         "max_size",
                                     "min_keys",     "max_shrink",    "max_fpr",
                                     "max_changed",  "required_keys", "known_absent_sample"});
static_assert(kErrorKindNames.size() == static_cast<std::size_t>(ErrorKind::KnownAbsentSample) + 1);

constexpr std::string_view to_string(ErrorKind kind) noexcept {
  return kErrorKindNames[static_cast<std::size_t>(kind)];
}

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

  // A store did not do everything it was asked to, or did not confirm it.
  [[nodiscard]] bool is_outage() const noexcept {
    return kind_ == ErrorKind::Unavailable || kind_ == ErrorKind::Unconfirmed;
  }

 private:
  ErrorKind kind_;
};

// Throw "<what>: <errno text>" for a system call that failed while reading, or while creating or writing,
// something. EACCES and EPERM are Permission; the rest MissingInput or CannotCreate.
[[noreturn]] void throw_read_error(const std::string& what, int error_number);
[[noreturn]] void throw_write_error(const std::string& what, int error_number);

}  // namespace keysieve
