// The errors of cold paths: one base, one type per cause, so that callers can tell a bad file from an absent
// server. Every message names the file, set or URL concerned and, where the system said no, its errno text.
// The lookup path throws nothing.
#pragma once

#include <stdexcept>
#include <string>

namespace keysieve {

enum class ErrorKind {
  Usage,         // the caller asked for something out of range
  Data,          // bytes that were read are wrong: key list, snapshot, record
  Incompatible,  // well formed, but of a format or kind this build does not know
  MissingInput,  // a file that must be read is not there or cannot be opened
  Unavailable,   // a store cannot be reached or does not answer
  CannotCreate,  // something that must be written cannot be
  Locked,        // another process does the same; try again later
  Permission,    // not allowed, or not trusted
  Login,         // a server refuses user or password, or the password cannot be read
  Config,        // a configuration file is wrong
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

template <ErrorKind Kind>
class ErrorOf : public Error {
 public:
  explicit ErrorOf(const std::string& message) : Error(Kind, message) {}
};

using UsageError = ErrorOf<ErrorKind::Usage>;
using DataError = ErrorOf<ErrorKind::Data>;
using IncompatibleError = ErrorOf<ErrorKind::Incompatible>;
using MissingInputError = ErrorOf<ErrorKind::MissingInput>;
using UnavailableError = ErrorOf<ErrorKind::Unavailable>;
using CannotCreateError = ErrorOf<ErrorKind::CannotCreate>;
using LockedError = ErrorOf<ErrorKind::Locked>;
using PermissionError = ErrorOf<ErrorKind::Permission>;
using LoginError = ErrorOf<ErrorKind::Login>;
using ConfigError = ErrorOf<ErrorKind::Config>;

// Throw "<what>: <errno text>" for a system call that failed while reading, or while creating or writing,
// something. EACCES and EPERM become PermissionError; the rest MissingInputError or CannotCreateError.
[[noreturn]] void throw_read_error(const std::string& what, int error_number);
[[noreturn]] void throw_write_error(const std::string& what, int error_number);

}  // namespace keysieve
