#include "core/base/error.hpp"

#include <cerrno>
#include <system_error>

namespace keysieve {
namespace {

std::string with_reason(const std::string& what, int error_number) {
  return what + ": " + std::generic_category().message(error_number);
}

bool is_permission(int error_number) {
  return error_number == EACCES || error_number == EPERM;
}

}  // namespace

void throw_read_error(const std::string& what, int error_number) {
  if (is_permission(error_number)) throw PermissionError(with_reason(what, error_number));
  throw MissingInputError(with_reason(what, error_number));
}

void throw_write_error(const std::string& what, int error_number) {
  if (is_permission(error_number)) throw PermissionError(with_reason(what, error_number));
  throw CannotCreateError(with_reason(what, error_number));
}

}  // namespace keysieve
