#include "tests/zts/php_thread.hpp"

#include <fstream>
#include <stdexcept>

// After the headers of C++, because PHP's macros must not affect them
#include "sapi/embed/php_embed.h"

namespace keysieve::test {
namespace {

// No object here has a destructor: PHP's fatal errors leave it by longjmp().
bool evaluate(const std::string& expression, RequestResult& result) {
  bool is_list = false;
  zend_first_try {
    zval value;
    ZVAL_UNDEF(&value);
    const int status = zend_eval_stringl_ex(expression.data(), expression.size(), &value, "request",
                                            /* handle_exceptions */ true);
    if (status == SUCCESS && Z_TYPE(value) == IS_ARRAY) {
      is_list = true;
      for (std::size_t i = 0; i < result.size(); ++i) {
        const zval* element = zend_hash_index_find(Z_ARRVAL(value), i);
        is_list = is_list && element != nullptr && Z_TYPE_P(element) == IS_LONG;
        if (is_list) result[i] = Z_LVAL_P(element);
      }
    }
    zval_ptr_dtor(&value);
  }
  zend_catch {
    is_list = false;
  }
  zend_end_try();
  return is_list;
}

}  // namespace

EmbeddedPhp::EmbeddedPhp(const std::string& ini_path, const std::string& settings) {
  std::ofstream(ini_path) << settings;
  php_embed_module.php_ini_path_override = ::strdup(ini_path.c_str());
  if (php_embed_init(0, nullptr) == FAILURE) throw std::runtime_error("PHP did not start");
}

EmbeddedPhp::~EmbeddedPhp() {
  ::free(php_embed_module.php_ini_path_override);
  php_embed_module.php_ini_path_override = nullptr;
  php_embed_shutdown();
}

PhpThread::PhpThread() {
  ts_resource(0);
}

PhpThread::~PhpThread() {
  ts_free_thread();
}

RequestResult PhpThread::request(const std::string& expression) {
  if (php_request_startup() == FAILURE) throw std::runtime_error("PHP did not start a request");
  RequestResult result{};
  const bool is_list = evaluate(expression, result);
  php_request_shutdown(nullptr);
  if (!is_list) throw std::runtime_error("\"" + expression + "\" is no list of ints");
  return result;
}

}  // namespace keysieve::test
