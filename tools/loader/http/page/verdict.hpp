// How a set is, in the words that a person reads first.
#pragma once

#include <string>
#include <string_view>

#include "tools/loader/http/loader_view.hpp"

namespace keysieve {

enum class Verdict {
  Good,
  Notice,  // answers, but somebody should look: the loader has trouble, or it is bypassed by will
  Bad,     // lookups answer maybe against everybody's will
};

Verdict verdict_of(const SetFacts& set) noexcept;
std::string_view to_string(Verdict verdict) noexcept;  // "good"

// From the state alone, whatever the loader's trouble.
Verdict verdict_of(Availability availability) noexcept;
std::string_view state_word(Availability availability) noexcept;  // "Ready"
// "store unreachable"; empty without trouble.
std::string_view trouble_word(Trouble trouble) noexcept;
// What lookups answer now, and why.
std::string answer_sentence(const SetFacts& set);

}  // namespace keysieve
