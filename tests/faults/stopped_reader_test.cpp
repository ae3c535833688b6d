// A reader is stopped before and after each of its system calls while others publish.
#include "tests/faults/published_generations.hpp"

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
  soak_report("reader stopped at each of its steps while 1 to 4 publications pass: " +
              std::to_string(rounds) + " times, all served rightly");
}

TEST_F(StoppedReader, AnswersRightlyWhenThePublisherIsStoppedTwice) {
  const unsigned stride = soak_rounds(23, 1);
  unsigned rounds = 0;
  bool reader_has_more = true;
  for (unsigned stop = 1 + drawn_offset(stride); reader_has_more; stop += stride) {
    bool publisher_has_more = true;
    for (unsigned until = 1 + drawn_offset(stride); publisher_has_more && reader_has_more; until += stride) {
      TracedProcess publisher(publishing(++generation_));
      TracedProcess reader([this] { return serve(); });
      reader_has_more = reader.steps(stop);
      publisher_has_more = publisher.steps(until);
      ASSERT_EQ(reader.finish(), kRight) << "at its step " << stop << ", the publisher's " << until;
      ASSERT_EQ(publisher.finish(), 0);
      ++rounds;
    }
  }
  soak_report("reader and publisher stopped at each pair of their steps: " + std::to_string(rounds) +
              " times, all served rightly");
}

}  // namespace
}  // namespace keysieve::test
