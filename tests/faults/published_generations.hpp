// A set in memory, published generation after generation. Readers can check every answer.
#pragma once

#include "tests/core/shm/generations.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/soak.hpp"
#include "tests/support/traced_process.hpp"

namespace keysieve::test {

class PublishedGenerations : public SharedMemory {
 protected:
  explicit PublishedGenerations(const std::filesystem::path& parent = fast_folder()) : SharedMemory(parent) {}

  std::uint64_t publish_generation(std::uint64_t generation) const {
    return publisher().publish(generations_.snapshot(generation), generation);
  }
  // For a process of its own.
  [[nodiscard]] std::function<int()> publishing(std::uint64_t generation) const {
    return [this, generation] {
      publish_generation(generation);
      return 0;
    };
  }

  // The generation that the reader's answers come from; nothing when every answer is maybe.
  std::optional<std::uint64_t> served_to(SetReader& reader) const {
    const Attachment* attached = reader.follow();
    if (!attached) return std::nullopt;
    EXPECT_TRUE(generations_.answers_rightly(*attached));
    return attached->live().generation;
  }
  // The same for a worker that starts now.
  [[nodiscard]] std::optional<std::uint64_t> served() const {
    SetReader reader = this->reader();
    return served_to(reader);
  }

  const Generations generations_{kSet};
};

// The same for cases that stop a process at its system calls.
class TracedGenerations : public PublishedGenerations {
 protected:
  using PublishedGenerations::PublishedGenerations;

  void SetUp() override {
    if (!can_trace()) GTEST_SKIP() << "may not trace a process";
    prepare();
  }
  virtual void prepare() {}
};

}  // namespace keysieve::test
