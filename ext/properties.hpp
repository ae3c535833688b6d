// Objects that hold facts, KeySieve\Info and KeySieve\SeenInfo: the extension alone makes them, and fills
// their readonly properties, each once.
#pragma once

#include <optional>

#include "core/worker/base/clock.hpp"
#include "ext/zend.hpp"

namespace keysieve {

// Objects of the class cannot be cloned. Called from MINIT.
void prepare_facts_class(zend_class_entry* registered);

class Properties {
 public:
  // Makes an object of the class in `result`. This can start PHP's cycle collector, which runs destructors; a
  // destructor may ask a set, and so unmap what was attached. So copy all facts of a set before. It may
  // also end the script by a fatal error: nothing of C++ that has a destructor lives meanwhile.
  Properties(zval* result, zend_class_entry* of_class);

  void set(std::string_view name, std::uint64_t number);
  void set(std::string_view name, double number);
  void set(std::string_view name, std::optional<double> number);
  void set(std::string_view name, std::string_view text);
  // Frees the text. nullptr: null.
  void set(std::string_view name, zend_string* text);
  void set_moment(std::string_view name, UnixSeconds moment);
  // 0: null.
  void set_moment_or_null(std::string_view name, UnixSeconds moment);

 private:
  void set_null(std::string_view name);
  void set(std::string_view name, zval* value);

  zend_object* object_;
};

}  // namespace keysieve
