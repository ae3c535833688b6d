#include "ext/error_log.hpp"

#include <syslog.h>

#include "ext/zend.hpp"

namespace keysieve {

void write_error_log(const std::string& line) {
  php_log_err_with_severity(line.c_str(), LOG_WARNING);
}

}  // namespace keysieve
