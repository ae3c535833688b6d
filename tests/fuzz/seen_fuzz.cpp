// Whatever a worker writes into the words of a seen set, and whatever the page holds, others get answers or a
// reason. Input: how to treat it (a byte), `state`, the header, three entries, then words, which are
// repeated.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/publisher/seen/new_segment.hpp"
#include "core/publisher/seen/seen_tags.hpp"
#include "core/publisher/seen/seen_writer.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/seen/seen_reader.hpp"
#include "tests/fuzz/check.hpp"
#include "tests/support/hash_key.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kEntries = 3;
constexpr std::size_t kHeaderBytes = offsetof(SeenPage, header_checksum);

struct SeenInput {
  std::uint8_t mode = 0;
  std::uint64_t state = 0;
  std::array<std::byte, kHeaderBytes> header{};
  std::array<SeenEntry, kEntries> entries{};
};

// What `mode` says.
constexpr unsigned kGivenHeader = 1;  // else a good one
constexpr unsigned kRightChecksum = 2;
constexpr unsigned kGivenKeys = 4;   // of segments; else those that there are
constexpr unsigned kGivenWords = 8;  // of entries: their sizes; else those that there are
constexpr unsigned kAttached = 16;   // a reader that has attached the good page sees it change

using fuzz::check;

// A set with two filters, each of a shard.
class FuzzedSet {
 public:
  FuzzedSet() : directory_(test::fast_folder()), writer_(directory_.path(), "set", std::nullopt) {
    writer_.create({1}, OnUnavailable::New);
    for (int i = 0; i < 2; ++i) writer_.make(plan(), 0);
    writer_.show();
    std::copy_n(reinterpret_cast<const std::byte*>(&page()), sizeof(SeenPage), good_.begin());
  }
  FuzzedSet(const FuzzedSet&) = delete;
  FuzzedSet& operator=(const FuzzedSet&) = delete;
  ~FuzzedSet() {
    restore();
    for (const OpenFilter& one : writer_.filters()) remove_segment(one.segment.key());
  }

  [[nodiscard]] SeenReader reader() const { return {{.directory = directory_.path()}, "set"}; }
  void restore() { std::copy(good_.begin(), good_.end(), reinterpret_cast<std::byte*>(&page())); }

  // The words are there already.
  void damage(const SeenInput& input) {
    if ((input.mode & kGivenHeader) != 0) std::copy(input.header.begin(), input.header.end(), bytes());
    if ((input.mode & kRightChecksum) != 0) page().header_checksum = checksum(Bytes(bytes(), kHeaderBytes));
    for (std::size_t i = 0; i < kEntries; ++i) {
      SeenEntry entry = input.entries[i];
      const OpenFilter& good = writer_.filters()[i % 2];
      if ((input.mode & kGivenKeys) == 0) entry.segment_key = good.segment.key();
      if ((input.mode & kGivenWords) == 0) entry.plan.size = good.plan.size;
      page().entries[i] = entry;
    }
    page().state = input.state;
  }

  void fill(Bytes words) {
    for (std::size_t number = 0; number < 2; ++number) {
      const MutableBytes memory = writer_.filters()[number].segment.bytes();
      for (std::size_t i = 0; i < memory.size(); ++i)
        memory[i] = words.empty() ? std::byte{0} : words[(i + number) % words.size()];
    }
  }
  // What the loader does with the words.
  void look() {
    const OpenFilter& from = writer_.filters()[0];
    const OpenFilter& to = writer_.filters()[1];
    for (std::uint64_t word = 0; word < 8; ++word) {
      for_each_tag(from.filter, word, from.filter.words()[word].load(), from.sent()[word],
                   [&](const SeenTag& tag) {
                     check(tag.block < from.filter.blocks() && tag.bits >= tag_bits(kMostTags));
                     check(tag.bits <= kMostTagBits);
                     check(std::isfinite(add_tags(to.filter, to.sent(), std::span(&tag, 1))));
                   });
    }
    copy_tags(from.filter, to.filter, to.sent());
  }

 private:
  static SeenPlan plan() {
    return {.capacity = 100, .rate = 1e-4, .size = {kWordsPerSeenShard, kLeastBlockWords}};
  }
  [[nodiscard]] SeenPage& page() { return writer_.page(); }
  [[nodiscard]] std::byte* bytes() { return reinterpret_cast<std::byte*>(&page()); }

  test::TemporaryDirectory directory_;
  SeenWriter writer_;
  std::array<std::byte, sizeof(SeenPage)> good_{};
};

constexpr std::size_t kKeys = 8;

std::array<KeyHash, kKeys> some_keys() {
  std::array<KeyHash, kKeys> hashes;
  for (std::size_t i = 0; i < kKeys; ++i) hashes[i] = hash_key({"key", i % 4}, {i / 2});
  hashes.front() = {0};
  hashes.back() = {~std::uint64_t{0}};
  return hashes;
}

// Whether no word has bits beside its tags, as hostile ones may: only then is what was added seen from then
// on.
bool has_tags_alone(const SeenFilter& filter) {
  return std::all_of(filter.words().begin(), filter.words().end(), [](const Word& word) {
    const WordValue value = word.load();
    WordValue made;
    for (unsigned i = 0; i < value.tags(); ++i) made = made.with(value.tag(i));
    return made == value;
  });
}

void ask(SeenReader& reader) {
  static const std::array<KeyHash, kKeys> hashes = some_keys();
  std::array<bool, kKeys> are_new{};
  static_cast<void>(reader.on_unavailable());
  if (!reader.follow()) return check(!reader.reason().empty());
  static_cast<void>(reader.may_contain(hashes[1]));
  const std::size_t answered = reader.add_many_if_new(hashes, are_new.data());
  check(answered == kKeys && reader.is_ready());
  const bool is_whole = std::all_of(reader.filters().begin(), reader.filters().end(), has_tags_alone);
  for (const KeyHash hash : hashes) {
    const SeenAnswer answer = reader.add_if_new(hash);
    check(answer == SeenAnswer::Seen || (answer == SeenAnswer::New && !is_whole));
  }
}

void ask_filter(const SeenEntry& entry, Bytes words) {
  // Ends where the words end, so that AddressSanitizer sees any access beyond them.
  std::vector<Word> memory(words.size() / sizeof(Word));
  const MutableBytes bytes = std::as_writable_bytes(std::span(memory));
  std::copy_n(words.begin(), bytes.size(), bytes.begin());
  try {
    const SeenFilter filter = filter_of(entry, bytes, "fuzz");
    const bool is_whole = has_tags_alone(filter);
    for (const KeyHash hash : some_keys()) {
      static_cast<void>(filter.add_if_new(hash));
      check(!is_whole || !filter.add_if_new(hash));
    }
    const SeenFill fill = seen_fill(filter);
    check(std::isfinite(fill.keys) && fill.keys > 0 && fill.rate > 0 && fill.rate <= 1 + 1e-9);
  } catch (const Error&) {
    // Refused with a reason.
  }
}

}  // namespace
}  // namespace keysieve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace keysieve;
  static FuzzedSet set;
  SeenInput input;
  const auto take = [&](void* field, std::size_t bytes) {
    const std::size_t there = std::min(bytes, size);
    std::copy_n(data, there, static_cast<std::uint8_t*>(field));
    data += there;
    size -= there;
  };
  take(&input.mode, sizeof input.mode);
  take(&input.state, sizeof input.state);
  take(&input.header, sizeof input.header);
  take(&input.entries, sizeof input.entries);
  const Bytes words = std::as_bytes(std::span(data, size));
  ask_filter(input.entries[0], words);
  set.fill(words);
  set.look();
  SeenReader reader = set.reader();
  if ((input.mode & kAttached) != 0) ask(reader);
  set.damage(input);
  ask(reader);
  SeenReader fresh = set.reader();
  ask(fresh);
  set.restore();
  ask(reader);
  return 0;
}
