// What a store can do, apart from reading records, and what a command needs of it. One table in store.cpp
// says it of every scheme, and commands consult it before they read anything.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace keysieve {

struct StoreAbilities {
  bool write = false;
  bool compare_and_set = false;
  bool list = false;     // keys_with_prefix()
  bool log = false;      // append() and what belongs to it: adds
  bool watch = false;    // watch() is not nullptr
  bool durable = false;  // what was written stays, unless the whole store is lost

  friend bool operator==(const StoreAbilities&, const StoreAbilities&) = default;
};

enum class StoreUse {
  Read,    // records, and logs if the store has any
  Write,   // records
  Append,  // to logs
  Bypass,  // records of bypasses, which must not be forgotten
  Keep,    // records that cannot be made again
  List,    // names of records
};

// Of a store by its URL, or by its name. Throws Usage for an unknown scheme.
const StoreAbilities& abilities_of(std::string_view url);

// Throws Usage "<URL without password>: <reason>" if the store cannot do that. Opens nothing.
void check_store_can(StoreUse use, const std::string& url);

// How often keysieved asks such a store if the configuration does not say.
std::chrono::milliseconds default_poll_interval(std::string_view url);

}  // namespace keysieve
