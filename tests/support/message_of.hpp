// For cases that check what an error says.
#pragma once

#include <string>

#include "core/base/error.hpp"

namespace keysieve::test {

// The message of the ErrorType that the function throws; empty when it throws nothing. Any other exception
// passes and fails the case.
template <typename ErrorType, typename Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const ErrorType& error) {
    return error.what();
  }
  return "";
}

}  // namespace keysieve::test
