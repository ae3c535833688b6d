#include "tools/program/program.hpp"

namespace keysieve {

int exit_status_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::Usage:
      return 64;
    case ErrorKind::Data:
    case ErrorKind::Incompatible:
    case ErrorKind::Older:
    case ErrorKind::MaxSize:
    case ErrorKind::MinKeys:
    case ErrorKind::MaxShrink:
    case ErrorKind::MaxFpr:
    case ErrorKind::Canaries:
      return 65;
    case ErrorKind::MissingInput:
      return 66;
    case ErrorKind::Unavailable:
    case ErrorKind::Unconfirmed:
      return 69;
    case ErrorKind::CannotCreate:
      return 73;
    case ErrorKind::Locked:
    case ErrorKind::Superseded:
      return 75;
    case ErrorKind::Permission:
    case ErrorKind::NotTrusted:
    case ErrorKind::Login:
      return 77;
    case ErrorKind::Config:
      return 78;
  }
  return kExitInternal;
}

}  // namespace keysieve
