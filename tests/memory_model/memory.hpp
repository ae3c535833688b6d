// The memory of C++'s model, as steps: what a load may read and where a store may go. Each location has a
// history of messages in their modification order. A view says for each location which message is the oldest
// that may still be read. Acquiring takes over the view that a message was released with.
//
// Loads and stores happen in the order of the program, and a store in the moment of its step. So the model
// has all behaviours of RC11 (Lahav et al., "Repairing sequential consistency in C/C++11", 2017), whose
// programs have no load buffering, but for the order of sequentially consistent operations: it is that of the
// steps.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace keysieve::model {

using Order = std::memory_order;
inline constexpr std::size_t kLocations = 47;
inline constexpr std::size_t kThreads = 4;

// Index of a message in the history of each location.
struct View {
  std::array<std::uint8_t, kLocations> oldest{};

  void join(const View& other) noexcept {
    for (std::size_t i = 0; i < kLocations; ++i)
      if (oldest[i] < other.oldest[i]) oldest[i] = other.oldest[i];
  }
};

struct Message {
  std::uint64_t value = 0;
  View view;
  std::uint8_t is_update = 0;  // by a read-modify-write, of the message before it
};
static_assert(sizeof(Message) == 8 + kLocations + 1, "has no padding, which would be hashed");

class Memory {
 public:
  explicit Memory(const std::vector<std::uint64_t>& initial);

  // Messages that the thread may read: from this one on.
  [[nodiscard]] std::size_t first_readable(std::size_t thread, std::size_t location, Order order) const;
  [[nodiscard]] std::size_t size(std::size_t location) const { return histories_[location].size(); }
  [[nodiscard]] std::uint64_t value(std::size_t location, std::size_t index) const {
    return histories_[location][index].value;
  }
  [[nodiscard]] std::uint64_t latest(std::size_t location) const { return histories_[location].back().value; }
  // Whether a message may be put there: not between an update and what it has updated.
  [[nodiscard]] bool may_insert(std::size_t location, std::size_t index) const {
    return index == size(location) || histories_[location][index].is_update == 0;
  }

  std::uint64_t read(std::size_t thread, std::size_t location, std::size_t index, Order order);
  // Requires may_insert() and first_readable() <= index - 1.
  void write(std::size_t thread, std::size_t location, std::size_t index, std::uint64_t value, Order order);
  // Reads the message at `index`, writes behind it.
  std::uint64_t update(std::size_t thread, std::size_t location, std::size_t index, std::uint64_t value,
                       Order order);
  // The same for the last messages of two locations, which change at once: a thread that acquires one of the
  // new messages has seen the other.
  void update_two(std::size_t thread, std::array<std::size_t, 2> locations,
                  std::array<std::uint64_t, 2> values, Order order);

  [[nodiscard]] std::uint64_t hash() const;

 private:
  void insert(std::size_t thread, std::size_t location, std::size_t index, Message message, Order order);

  std::vector<std::vector<Message>> histories_;
  std::array<View, kThreads> threads_{};
  View in_order_;  // the last message of each location that a sequentially consistent operation used
};

constexpr bool acquires(Order order) noexcept {
  return order == Order::acquire || order == Order::acq_rel || order == Order::seq_cst;
}
constexpr bool releases(Order order) noexcept {
  return order == Order::release || order == Order::acq_rel || order == Order::seq_cst;
}

// Continues a hash.
std::uint64_t hash_bytes(const void* bytes, std::size_t size, std::uint64_t before) noexcept;

}  // namespace keysieve::model
