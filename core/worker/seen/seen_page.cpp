#include "core/worker/seen/seen_page.hpp"

#include "core/worker/base/error.hpp"

namespace keysieve {

std::string_view to_string(OnUnavailable answer) noexcept {
  switch (answer) {
    case OnUnavailable::Throw:
      return "throw";
    case OnUnavailable::New:
      return "new";
    case OnUnavailable::Seen:
      return "seen";
  }
  return "unknown";
}

SeenFilter filter_of(const SeenEntry& entry, MutableBytes memory, const std::string& path) {
  const SeenSize& size = entry.plan.size;
  if (!size.is_possible() || memory.size() != entry.plan.segment_bytes()) {
    throw Error(ErrorKind::Data, path + ": is damaged: a filter of " + std::to_string(size.words) +
                                     " words in blocks of " + std::to_string(size.block_words) + ", in " +
                                     std::to_string(memory.size()) + " bytes");
  }
  return {std::span(reinterpret_cast<Word*>(memory.data()), size.words), size.block_words};
}

}  // namespace keysieve
