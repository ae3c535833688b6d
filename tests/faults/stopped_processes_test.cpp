// A reader is stopped before and after each of its system calls while others publish.
#include "tests/faults/published_generations.hpp"
#include "tests/support/matchers.hpp"

namespace keysieve::test {
namespace {

constexpr int kRight = 0;
constexpr int kWrong = 1;
constexpr int kNotServed = 2;

class StoppedReader : public TracedGenerations {
 protected:
  void prepare() override { publish_next(); }

  void publish_next() { publish_generation(++generation_); }

  // Starts as a worker does and answers some requests.
  [[nodiscard]] int serve() const {
    SetReader reader = this->reader();
    for (int request = 0; request < 3; ++request) {
      reader.check_soon();
      const Attachment* attached = reader.follow();
      if (!attached) return kNotServed;
      if (!generations_.answers_rightly(*attached)) return kWrong;
    }
    return kRight;
  }

  std::uint64_t generation_ = 0;
};

TEST_F(StoppedReader, AnswersRightlyHoweverMuchIsPublishedMeanwhile) {
  const unsigned stride = soak_rounds(5, 1);
  unsigned rounds = 0;
  for (int publications = 1; publications <= 4; ++publications) {
    for (unsigned stop = 1 + drawn_offset(stride);; stop += stride) {
      TracedProcess reader([this] { return serve(); });
      if (!reader.steps(stop)) break;
      for (int i = 0; i < publications; ++i) publish_next();
      ASSERT_EQ(reader.finish(), kRight) << publications << " publications at its step " << stop;
      ++rounds;
    }
  }
  soak_report(rounds, "stops");
}

// Two publishers of one set: each is stopped before and after every system call while the other one works,
// and the lock file is removed meanwhile.

const int kLocked = exit_status_of(ErrorKind::Locked);

class TwoPublishers : public TracedGenerations {
 protected:
  void prepare() override {
    publish_generation(0);
    ASSERT_TRUE(worker_.follow());
  }

  // Checks the answers of a running worker, and of one that starts now.
  void expect_served(const std::string& when) {
    SetReader starting = reader();
    for (SetReader* served : {&worker_, &starting}) {
      EXPECT_TRUE(served_to(*served)) << when << ": " << served->reason();
    }
  }

  [[nodiscard]] std::uint64_t current() const { return publication_of(writable_control().page().current); }

  SetReader worker_ = reader();
};

TEST_F(TwoPublishers, AreNeverBothAtWork) {
  const unsigned stride = soak_rounds(7, 1);
  std::uint64_t generation = 0;
  unsigned refused = 0;
  unsigned stop = 1 + drawn_offset(stride);
  for (;; stop += stride) {
    TracedProcess first(publishing(++generation));
    if (!first.steps(stop)) break;
    const int second = run_in_process(publishing(++generation));
    if (second == kLocked) ++refused;
    expect_served("stopped at " + std::to_string(stop));
    const int status = first.finish();
    EXPECT_THAT((std::array{status, second}),
                AnyOf(ElementsAre(0, AnyOf(0, kLocked)), ElementsAre(kLocked, 0)));
    expect_served("stopped at " + std::to_string(stop) + " and gone on");
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, stop / stride / 2);
  soak_report(stop, "stops");
}

// The second publisher is stopped too, and the first continues first. Neither may remove what the other has
// made current.
TEST_F(TwoPublishers, NeverSpoilThePublicationWhenTheLockFileIsRemoved) {
  const unsigned stride = soak_rounds(23, 1);
  std::uint64_t generation = 0;
  unsigned rounds = 0;
  bool first_has_more = true;
  for (unsigned i = 1 + drawn_offset(stride); first_has_more && !HasFailure(); i += stride) {
    bool second_has_more = true;
    for (unsigned j = 1 + drawn_offset(stride); second_has_more && first_has_more && !HasFailure();
         j += stride) {
      const std::string when = "removed at " + std::to_string(i) + ", second stopped at " + std::to_string(j);
      TracedProcess first(publishing(++generation));
      first_has_more = first.steps(i);
      std::filesystem::remove(file(kLockName));
      TracedProcess second(publishing(++generation));
      second_has_more = second.steps(j);
      expect_served(when);
      const int of_first = first.finish();
      EXPECT_THAT(of_first, AnyOf(0, kLocked)) << when;
      expect_served(when + ", first has gone on");
      const int of_second = second.finish();
      EXPECT_THAT(of_second, AnyOf(0, kLocked)) << when;
      expect_served(when + ", both have gone on");
      ++rounds;
    }
  }
  publish_generation(generation + 1);
  expect_served("afterwards");
  soak_report(rounds, "pairs of stops");
}

}  // namespace
}  // namespace keysieve::test
