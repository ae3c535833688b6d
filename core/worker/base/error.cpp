#include "core/worker/base/error.hpp"

#include <cerrno>
#include <system_error>

namespace keysieve {
namespace {

[[noreturn]] void throw_system_error(ErrorKind kind, const std::string& what, int error_number) {
  const bool is_denied = error_number == EACCES || error_number == EPERM;
  throw Error(is_denied ? ErrorKind::Permission : kind,
              what + ": " + std::generic_category().message(error_number));
}

}  // namespace

std::string_view to_string(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::Usage:
      return "usage";
    case ErrorKind::Config:
      return "configuration";
    case ErrorKind::Data:
      return "damaged";
    case ErrorKind::Incompatible:
      return "incompatible";
    case ErrorKind::MissingInput:
      return "missing";
    case ErrorKind::CannotCreate:
      return "cannot_create";
    case ErrorKind::Permission:
      return "permission";
    case ErrorKind::NotTrusted:
      return "not_trusted";
    case ErrorKind::Locked:
      return "locked";
    case ErrorKind::Superseded:
      return "superseded";
    case ErrorKind::Unavailable:
      return "unavailable";
    case ErrorKind::Unconfirmed:
      return "unconfirmed";
    case ErrorKind::Login:
      return "login";
    case ErrorKind::NotSigned:
      return "signature";
    case ErrorKind::Older:
      return "older";
    case ErrorKind::MaxSize:
      return "max_size";
    case ErrorKind::MinKeys:
      return "min_keys";
    case ErrorKind::MaxShrink:
      return "max_shrink";
    case ErrorKind::MaxFpr:
      return "max_fpr";
    case ErrorKind::RequiredKeys:
      return "required_keys";
    case ErrorKind::KnownAbsentSample:
      return "known_absent_sample";
  }
  return "unknown";
}

void throw_read_error(const std::string& what, int error_number) {
  throw_system_error(ErrorKind::MissingInput, what, error_number);
}

void throw_write_error(const std::string& what, int error_number) {
  throw_system_error(ErrorKind::CannotCreate, what, error_number);
}

}  // namespace keysieve
