// Tags without their keys. The loader takes them out of one filter and puts them into another of the same
// size: from another host, from before a reboot, or from a filter whose memory was removed. Workers may add
// keys meanwhile.
#pragma once

#include "core/worker/seen/seen_size.hpp"

namespace keysieve {

struct SeenTag {
  std::uint64_t block = 0;
  std::uint64_t tag = 0;
  unsigned bits = kMostTagBits;  // of the tag that are known, the lowest ones

  friend bool operator==(const SeenTag&, const SeenTag&) = default;
};

// Calls visit(number of the word, SeenTag) for each tag of a word from number `first` on.
template <typename Visit>
void for_each_tag(const SeenFilter& filter, std::uint64_t word, const WordValue& value, unsigned first,
                  const Visit& visit) {
  for (unsigned i = first; i < value.tags(); ++i)
    visit(SeenTag{word / filter.block_words(), value.tag(i), tag_bits(value.tags())});
}

// How many of the first tags belong to the same block and have as many known bits.
inline std::size_t run_length(std::span<const SeenTag> tags) noexcept {
  std::size_t length = 0;
  while (length < tags.size() && tags[length].block == tags[0].block && tags[length].bits == tags[0].bits)
    ++length;
  return length;
}

// Adds tags as add_if_new() adds keys, so that keys with these tags count as seen. `run`: all of one block,
// with as many known bits. If fewer bits are known than the word's tags have, several go into it at once,
// until all tags of the word are as short; if there are too few, copies of the last one do. So the tags of a
// word make just such a word where there are none, and need no copies. `sent`: as OpenFilter::sent(); a tag
// that comes from the store need not go there, unless it comes behind one that must; empty: all must. Gives
// up when a hostile worker, which may take tags away anyhow, changes the block all the time. Returns by how
// much the share of absent keys that the block contains has risen; 0 if it has all tags already. Requires
// that block below filter.blocks() and tag_bits(kMostTags) bits or more.
inline double add_tags(const SeenFilter& filter, std::span<std::uint8_t> sent,
                       std::span<const SeenTag> run) noexcept {
  double risen = 0;
  std::uint64_t failures = 0;  // as in SeenFilter
  while (!run.empty() && failures <= filter.block_words() * kMostTags) {
    const SeenTag& tag = run.front();
    const std::span<Word> words = filter.block(tag.block);
    std::size_t emptiest = 0;
    WordValue before;
    bool is_there = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const WordValue value = words[i].load();
      is_there = is_there || (tag_bits(value.tags()) <= tag.bits && value.has(tag.tag));
      if (i != 0 && value.tags() >= before.tags()) continue;
      emptiest = i;
      before = value;
    }
    if (is_there) {
      run = run.subspan(1);
      continue;
    }
    if (before.tags() == kMostTags) break;
    WordValue after = before.with(tag.tag);
    std::size_t added = 1;
    const auto is_next_free = [&] {  // and would be alone in another word
      return added > 1 && added < run.size() && after.tags() < kMostTags &&
             tag_bits(after.tags() + 1) == tag_bits(after.tags());
    };
    while (tag_bits(after.tags()) > tag.bits || is_next_free()) {
      if (added < run.size()) ++added;
      after = after.with(run[added - 1].tag);
    }
    if (!words[emptiest].compare_and_set(before, after)) {
      ++failures;
      continue;
    }
    if (!sent.empty()) {
      std::uint8_t& known = sent[tag.block * filter.block_words() + emptiest];
      if (known == before.tags()) known = static_cast<std::uint8_t>(after.tags());
    }
    risen += rate_of(after) - rate_of(before);
    run = run.subspan(added);
  }
  return risen;
}

// Adds all tags of `from` to `to`, which has the same size. `from_sent`: how many of each word's tags the
// store has, so that they need not go there from `to` either; empty: all.
inline void copy_tags(const SeenFilter& from, const SeenFilter& to, std::span<std::uint8_t> sent,
                      std::span<const std::uint8_t> from_sent = {}) noexcept {
  for (std::uint64_t word = 0; word < from.words().size(); ++word) {
    const WordValue value = from.words()[word].load();
    if (value.tags() == 0) continue;
    const unsigned known =
        from_sent.empty() ? value.tags() : std::min<unsigned>(from_sent[word], value.tags());
    std::array<SeenTag, kMostTags> all;
    WordValue copy;
    for_each_tag(from, word, value, 0, [&](const SeenTag& tag) {
      all[copy.tags()] = tag;
      copy = copy.with(tag.tag);
    });
    // If no worker has put a tag there yet, the word is copied whole: all tags keep their lengths.
    const WordValue before = to.words()[word].load();
    if (before.tags() == 0 && to.words()[word].compare_and_set(before, copy)) {
      sent[word] = static_cast<std::uint8_t>(known);
      continue;
    }
    // Else in one run, since two would need copies. So what the store has of them may go there again.
    add_tags(to, known == value.tags() ? sent : std::span<std::uint8_t>(),
             std::span(all).first(value.tags()));
  }
}

}  // namespace keysieve
