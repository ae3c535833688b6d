// PHP with threads, embedded in a test: the PHP of this process, and its threads.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace keysieve::test {

// PHP as libphp has it, with keysieve.so. One per process; must be created and destroyed by the same thread.
class EmbeddedPhp {
 public:
  // Throws std::runtime_error. `settings`: the text of a php.ini, which is written to `ini_path`.
  EmbeddedPhp(const std::string& ini_path, const std::string& settings);
  EmbeddedPhp(const EmbeddedPhp&) = delete;
  EmbeddedPhp& operator=(const EmbeddedPhp&) = delete;
  ~EmbeddedPhp();
};

// What a request returns: a list of that many ints.
using RequestResult = std::array<std::int64_t, 3>;

// Makes the thread that creates it one of PHP's, as a web server does with each of its threads, for as long
// as it lives.
class PhpThread {
 public:
  PhpThread();
  PhpThread(const PhpThread&) = delete;
  PhpThread& operator=(const PhpThread&) = delete;
  ~PhpThread();

  // Runs a request that evaluates an expression. Throws std::runtime_error if the result is not a list of
  // ints; PHP's log says why.
  RequestResult request(const std::string& expression);
};

}  // namespace keysieve::test
