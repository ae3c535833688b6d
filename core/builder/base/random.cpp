#include "core/builder/base/random.hpp"

#include <sys/random.h>

#include <cerrno>

#include "core/worker/base/error.hpp"

namespace keysieve {

void fill_random(MutableBytes bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_read_error("getrandom", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace keysieve
