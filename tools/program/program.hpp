// What both programs, keysieve and keysieved, do alike: version, exit statuses, and how an error becomes one
// line.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "core/worker/base/error.hpp"
#include "core/worker/base/version.hpp"

namespace keysieve {

inline constexpr std::string_view kVersion = KEYSIEVE_VERSION;

// sysexits: 64 usage, 65 bad data or incompatible, 66 input missing, 69 store unreachable, 73 cannot create,
// 75 locked, 77 permission or login, 78 config.
int exit_status_of(ErrorKind kind) noexcept;

// An exception that is not an Error: 71 if memory ran out, else 70.
int exit_status_of(const std::exception& error) noexcept;
// Comes first in main(), before any file is opened; `program`: its name.
// - A closed standard stream (cron, `2>&-`) is opened, or a store would get its number, and with it the
//   program's messages. Output and errors go to /dev/null; input cannot be read.
// - A file beyond `ulimit -f` is an error (EFBIG) as a full disk is, and no signal that ends the program.
// - A reader, server or browser that hangs up is an error (EPIPE), and no signal that ends the program.
// - A std::bad_alloc that nothing can catch ends the program with status 71 and a line. Examples: one that
//   leaves a noexcept function, or the destructor of nlohmann::json, which allocates.
void begin_program(const char* program) noexcept;
// For a failure to write to standard output or error: if its reader has gone, as that of `keysieve | head`,
// the program ends by SIGPIPE, like one that does not ignore it.
void end_if_reader_is_gone(int error_number) noexcept;
void end_if_reader_is_gone(const std::exception& error) noexcept;
// What users read of it.
std::string_view text_of(const std::exception& error) noexcept;

}  // namespace keysieve
