// The errors of cold paths. Every message names the file, set or URL concerned and, where the system said no,
// its errno text; the kind is what decides. Comments say "throws Data" of an Error of that kind. The lookup
// path throws nothing.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace keysieve {

enum class ErrorKind : std::uint8_t {
  Usage,         // the caller asked for something out of range
  Config,        // a configuration file is wrong
  Data,          // bytes that were read are wrong: key list, snapshot, record
  Incompatible,  // well formed, but of a format or kind this build does not know
  MissingInput,  // a file that must be read is not there or cannot be opened
  CannotCreate,  // something that must be written cannot be
  Permission,    // the system does not allow it
  NotTrusted,    // belongs to another user, or others may write to it
  Locked,        // another process does the same; try again later
  Superseded,    // by what another process has done meanwhile
  Unavailable,   // a store cannot be reached or does not answer
  Unconfirmed,   // what was asked for is done, but a store does not confirm it
  Login,         // a server refuses user or password, or the password cannot be read
  // A snapshot that is whole and not wanted:
  Older,    // than what was there already
  MaxSize,  // the guards, by the names of their settings
  MinKeys,
  MaxShrink,
  MaxFpr,
  Canaries,
};

// "cannot_create"; Data is "damaged". For JSON and labels of metrics.
std::string_view to_string(ErrorKind kind) noexcept;

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

  // A store did not do all that it was asked for, or does not say so.
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
