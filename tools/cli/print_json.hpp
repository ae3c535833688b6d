// JSON on standard output: for verbs whose answer has lists or nested objects. The others use Report.
#pragma once

#include <nlohmann/json.hpp>

namespace keysieve {

using Json = nlohmann::ordered_json;

void print_json(const Json& value);

}  // namespace keysieve
