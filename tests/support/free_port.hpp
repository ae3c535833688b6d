// A port for a server that a test starts.
#pragma once

namespace keysieve::test {

// Of 127.0.0.1, free at this moment. Throws std::runtime_error.
int free_port();

}  // namespace keysieve::test
