// For cases that check the kind and the message of an error.
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>

#include "core/worker/base/error.hpp"

namespace keysieve {

inline void PrintTo(ErrorKind kind, std::ostream* out) {
  *out << to_string(kind);
}

}  // namespace keysieve

namespace keysieve::test {

// The message of the Error of that kind that the function throws; empty when it throws nothing. Any other
// exception passes and fails the case.
template <ErrorKind Kind, typename Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    if (error.kind() != Kind) throw;
    return error.what();
  }
  return "";
}

// Matches a function that throws an Error of that kind, whose message matches.
inline auto fails(ErrorKind kind, const ::testing::Matcher<std::string>& message = ::testing::_) {
  const auto text = [](const Error& error) { return std::string(error.what()); };
  return ::testing::Throws<Error>(::testing::AllOf(::testing::Property("kind", &Error::kind, kind),
                                                   ::testing::ResultOf("message", text, message)));
}

}  // namespace keysieve::test
