#include "tests/memory_model/memory.hpp"

#include <algorithm>
#include <cstring>

#include "core/worker/hash/key_hash.hpp"

namespace keysieve::model {

Memory::Memory(const std::vector<std::uint64_t>& initial) : histories_(initial.size()) {
  for (std::size_t i = 0; i < initial.size(); ++i) histories_[i].push_back({.value = initial[i], .view = {}});
}

std::size_t Memory::first_readable(std::size_t thread, std::size_t location, Order order) const {
  const std::size_t oldest = threads_[thread].oldest[location];
  if (order != Order::seq_cst) return oldest;
  return std::max<std::size_t>(oldest, in_order_.oldest[location]);
}

std::uint64_t Memory::read(std::size_t thread, std::size_t location, std::size_t index, Order order) {
  const Message& message = histories_[location][index];
  const auto at = static_cast<std::uint8_t>(index);
  View& view = threads_[thread];
  view.oldest[location] = std::max(view.oldest[location], at);
  if (acquires(order)) view.join(message.view);
  if (order == Order::seq_cst) in_order_.oldest[location] = std::max(in_order_.oldest[location], at);
  return message.value;
}

void Memory::write(std::size_t thread, std::size_t location, std::size_t index, std::uint64_t value,
                   Order order) {
  insert(thread, location, index, {.value = value, .view = {}}, order);
}

// The view of what was updated goes on: a release sequence.
std::uint64_t Memory::update(std::size_t thread, std::size_t location, std::size_t index, std::uint64_t value,
                             Order order) {
  const std::uint64_t before = read(thread, location, index, order);
  insert(thread, location, index + 1,
         {.value = value, .view = histories_[location][index].view, .is_update = 1}, order);
  return before;
}

void Memory::insert(std::size_t thread, std::size_t location, std::size_t index, Message message,
                    Order order) {
  const auto at = static_cast<std::uint8_t>(index);
  const auto make_room = [&](View& view) {
    if (view.oldest[location] >= at) ++view.oldest[location];
  };
  if (index != size(location)) {
    for (auto& history : histories_)
      for (Message& one : history) make_room(one.view);
    for (View& view : threads_) make_room(view);
    make_room(in_order_);
  }
  View& view = threads_[thread];
  view.oldest[location] = at;
  if (releases(order)) message.view.join(view);
  message.view.oldest[location] = at;
  if (order == Order::seq_cst) in_order_.oldest[location] = at;
  auto& history = histories_[location];
  history.insert(history.begin() + static_cast<std::ptrdiff_t>(index), message);
}

void Memory::update_two(std::size_t thread, std::array<std::size_t, 2> locations,
                        std::array<std::uint64_t, 2> values, Order order) {
  for (std::size_t i = 0; i < 2; ++i) update(thread, locations[i], size(locations[i]) - 1, values[i], order);
  histories_[locations[0]].back().view.join(histories_[locations[1]].back().view);
}

std::uint64_t Memory::hash() const {
  std::uint64_t hash = hash_bytes(&threads_, sizeof threads_, 0);
  hash = hash_bytes(&in_order_, sizeof in_order_, hash);
  for (const auto& history : histories_) {
    const std::size_t size = history.size();
    hash = hash_bytes(history.data(), size * sizeof(Message), hash_bytes(&size, sizeof size, hash));
  }
  return hash;
}

std::uint64_t hash_bytes(const void* bytes, std::size_t size, std::uint64_t before) noexcept {
  const auto* at = static_cast<const char*>(bytes);
  for (; size != 0; before = fold(before ^ kG, kA) ^ before >> 7) {
    std::uint64_t word = 0;
    const std::size_t some = std::min(size, sizeof word);
    std::memcpy(&word, at, some);
    before = fold(before ^ word ^ kC, kA ^ size);
    at += some;
    size -= some;
  }
  return before;
}

}  // namespace keysieve::model
