// For cases that check the kind and the message of an error.
#pragma once

#include <gmock/gmock.h>

#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "core/worker/base/error.hpp"

namespace keysieve {

inline void PrintTo(ErrorKind kind, std::ostream* out) {
  *out << to_string(kind);
}

}  // namespace keysieve

namespace keysieve::test {

// The message of the Error of that kind that the function throws; empty when it throws nothing. Any other
// exception passes and fails the case.
template <typename Function>
std::string message_of(ErrorKind kind, Function function) {
  try {
    function();
  } catch (const Error& error) {
    if (error.kind() != kind) throw;
    return error.what();
  }
  return "";
}
template <ErrorKind Kind, typename Function>
std::string message_of(Function function) {
  return message_of(Kind, std::move(function));
}

// The kind of the Error that the function throws; nothing when it throws nothing. Any other exception passes
// and fails the case. No matcher of gMock's, which takes the compiler ten times as long for each function.
template <typename Function>
std::optional<ErrorKind> failure_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.kind();
  }
  return std::nullopt;
}

}  // namespace keysieve::test
