// What the program says on standard error, and asks there: lines for people, in colour on a terminal, or with
// --json an object in each line.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace keysieve {

enum class Colour { None, Red, Yellow };

// The text in that colour if the stream is a terminal; NO_COLOR and TERM=dumb mean that it shows none.
std::string coloured(const std::string& text, Colour colour, std::FILE* stream);

// Call it before anything is said.
void say_as_json();

// `code` is a word for scripts: the name of an ErrorKind, "no_memory" or "internal".
void print_error(const std::string& message, std::string_view code, int exit_status);
// Prints the error "no_memory" without allocating.
void print_no_memory(int exit_status) noexcept;
void print_note(const std::string& note);
void print_warning(const std::string& warning);

constexpr int kExitDeclined = 1;  // the user said no

// Asks before a verb does what is not easily undone. Returns true if the user says yes. Throws Usage
// "<without_terminal>; --yes does it without a terminal" if there is nobody to ask. Says "nothing is changed"
// if the user says no.
bool is_confirmed(const std::string& question, const std::string& without_terminal);

}  // namespace keysieve
