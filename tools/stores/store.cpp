#include "tools/stores/store.hpp"

#include "core/base/error.hpp"

namespace keysieve {
namespace {

[[noreturn]] void refuse_logs(const Store& store) {
  throw UnavailableError(store.name() + ": this store keeps no logs");
}

}  // namespace

std::vector<std::string> Store::keys_with_prefix(const std::string& /*prefix*/) {
  throw UnavailableError(name() + ": this store cannot list its records");
}
LogPosition Store::append(const std::string& /*log*/, std::span<const std::string> /*keys*/) {
  refuse_logs(*this);
}
std::vector<LogEntry> Store::read_after(const std::string& /*log*/, const LogPosition& /*after*/,
                                        std::size_t /*max_entries*/) {
  refuse_logs(*this);
}
LogPosition Store::end_of(const std::string& /*log*/) {
  refuse_logs(*this);
}
void Store::trim(const std::string& /*log*/, const LogPosition& /*up_to*/) {
  refuse_logs(*this);
}
void Store::notify(const std::string& /*log*/) {
  refuse_logs(*this);
}
std::unique_ptr<StoreWatch> Store::watch() {
  return nullptr;
}

}  // namespace keysieve
