// Reads the orders of an access from the source of the product.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

#include "tests/memory_model/explorer.hpp"

namespace keysieve::model {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As "memory_order_acquire" or "__ATOMIC_ACQUIRE".
std::vector<Order> orders_in(const std::string& statement) {
  std::vector<Order> found;
  for (std::size_t at = 0; at < statement.size(); ++at) {
    for (const Order order :
         {Order::relaxed, Order::acquire, Order::release, Order::acq_rel, Order::seq_cst}) {
      std::string name = to_string(order);
      const bool is_here = statement.compare(at, 13 + name.size(), "memory_order_" + name) == 0;
      for (char& letter : name) letter = static_cast<char>(std::toupper(letter));
      if (is_here || statement.compare(at, 9 + name.size(), "__ATOMIC_" + name) == 0) found.push_back(order);
    }
  }
  return found;
}

}  // namespace

Quoted quote(const char* file, const std::string& text) {
  const std::string source = text_of(std::string(KEYSIEVE_SOURCES "/") + file);
  const std::size_t at = source.find(text);
  if (at == std::string::npos || source.find(text, at + 1) != std::string::npos)
    give_up(std::string(file) + ": not there once: " + text);
  const std::size_t end = at + text.size();
  const auto line = 1 + static_cast<unsigned>(std::count(
                            source.begin(), source.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
  const std::vector<Order> orders = orders_in(source.substr(end, source.find(';', end) - end));
  Quoted quoted{.place = {file, line}};
  if (!orders.empty()) quoted.order = orders[0];
  if (orders.size() > 1) quoted.failure = orders[1];
  return quoted;
}

}  // namespace keysieve::model
