// keysieve query: asks a set in shared memory, published or seen, or a snapshot file. Exit statuses like
// grep's.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/worker/shm/set_reader.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/cli/verb.hpp"
#include "tools/status/seen_set_facts.hpp"
#include "tools/status/set_facts.hpp"

namespace keysieve {
namespace {

constexpr int kExitMaybe = 0;
constexpr int kExitAbsent = 1;
constexpr int kExitError = 2;

struct Answer {
  bool may_contain = false;
  std::string word;  // for people and JSON
  Json more = Json::object();
};

using Ask = std::function<Answer(std::string_view key)>;
// To be called when time may have passed since the key before.
using LookAgain = std::function<void()>;

Answer maybe_or_absent(bool may_contain) {
  return {.may_contain = may_contain, .word = may_contain ? "maybe" : "absent"};
}

// The value of a key in a map.
Answer answer_of(MapAnswer found) {
  if (found == kAbsent) return maybe_or_absent(false);
  if (found == kUnknown) return {.may_contain = true, .word = "unknown"};
  return {.may_contain = true, .word = std::to_string(found), .more = {{"value", found}}};
}

// `set`: the snapshot, or what is published of it with the keys added since.
Answer answer_in(const auto& set, const SnapshotView& snapshot, std::string_view key) {
  const KeyHash hash = snapshot.hasher()(key);
  return snapshot.is_map() ? answer_of(set.find(hash)) : maybe_or_absent(set.may_contain(hash));
}

void note(const SetReader& reader) {
  const Availability found = reader.availability();
  if (found == Availability::Ready) return;
  if (found == Availability::Missing || found == Availability::Incompatible)
    throw Error(ErrorKind::MissingInput, "set " + reader.set_name() + ": " + std::string(reader.reason()));
  print_note(fmt::format("set {}: {}: every answer is maybe", reader.set_name(), reader.reason()));
}

class QueryVerb {
 public:
  void declare(CLI::App* verb) {
    verb->add_option("SET", set_name_, "Name of the set")->required();
    add_keys(verb, keys_, "Keys to ask for; after -- a key may be any bytes, -x and ++ too", "...");
    add_directory(verb, directory_);
    add_text(verb, "--file FILE", snapshot_path_, "Ask this snapshot file instead of shared memory");
    verb->add_flag(
            "--stdin", from_stdin_,
            "Read keys from standard input and print those that may be in the set; follows new publications")
        ->excludes(verb->get_option("--json"));
    verb->add_flag("-v,--absent", invert_,
                   "With --stdin print the absent keys instead; exit status 0 if any key is absent");
    add_key_format(verb, format_);
  }

  int run() {
    if (keys_.empty() != from_stdin_) throw Error(ErrorKind::Usage, "give keys to ask for, or --stdin");
    if (!snapshot_path_.empty()) {
      const SnapshotFile file(snapshot_path_, Check::Everything);
      file.view().check_set_name(checked_set_name(set_name_), snapshot_path_);
      return ask([&](std::string_view key) { return answer_in(file.view(), file.view(), key); }, [] {});
    }
    const std::string& name = set_name_;
    if (sets_named(directory_, name).front() == SetType::Seen)
      return ask_seen(seen_status_reader(directory_, name));
    return ask_published(status_reader(directory_, name));
  }

 private:
  // Every time that it has to wait for keys, those that came before are printed.
  int filter_stdin(const Ask& ask_for, const LookAgain& look_again) {
    bool printed = false;
    read_keys_in_threads("-", format_, 1, [&](unsigned /*thread*/, auto keys) {
      look_again();
      for (const std::string_view key : keys) {
        if (ask_for(key).may_contain == invert_) continue;
        printed = true;
        fmt::print("{}{}", key, format_.separator());
      }
      flush_output();
    });
    return printed ? kExitMaybe : kExitAbsent;
  }

  int print_answers(const Ask& ask_for) {
    std::vector<Answer> answers;
    std::size_t width = 0;
    bool is_found = false;
    for (const std::string& key : keys_) {
      const Answer& answer = answers.emplace_back(ask_for(key));
      width = std::max(width, answer.word.size());
      is_found = is_found || answer.may_contain != invert_;
    }
    Json members = Json::array();
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const Answer& answer = answers[i];
      if (is_said_as_json()) {
        members.push_back({{"key", keys_[i]}, {"answer", answer.word}});
        members.back().update(answer.more);
      } else if (answers.size() == 1) {
        fmt::print("{}\n", answer.word);
      } else {
        fmt::print("{:<{}}  {}\n", answer.word, width, keys_[i]);
      }
    }
    if (is_said_as_json()) print_json({{"set", set_name_}, {"answers", members}});
    return is_found ? kExitMaybe : kExitAbsent;
  }

  int ask(const Ask& ask_for, const LookAgain& look_again) {
    return from_stdin_ ? filter_stdin(ask_for, look_again) : print_answers(ask_for);
  }

  // Answers as PHP would, for each key from what is published then; but a set that is not there is an error
  // here, since nobody asks for it by mistake of a deploy.
  int ask_published(SetReader reader) {
    Availability noted = Availability::Ready;
    const auto ask_for = [&](std::string_view key) {
      const Attachment* attached = reader.follow();
      if (std::exchange(noted, reader.availability()) != reader.availability()) note(reader);
      return attached == nullptr ? maybe_or_absent(true) : answer_in(*attached, attached->snapshot(), key);
    };
    return ask(ask_for, [&] { reader.check_soon(); });
  }

  // Adds nothing. A set that is missing or bypassed is an error: workers then answer as on_unavailable says,
  // which says nothing about the keys.
  int ask_seen(SeenReader reader) {
    const auto ask_for = [&](std::string_view key) -> Answer {
      if (!reader.follow()) {
        throw Error(ErrorKind::MissingInput,
                    fmt::format("seen set {}: {}: it cannot be known whether a key was seen",
                                reader.set_name(), reader.reason()));
      }
      const bool was_seen = reader.may_contain(reader.hasher()(key));
      return {.may_contain = was_seen, .word = was_seen ? "seen" : "new"};
    };
    return ask(ask_for, [&] { reader.check_soon(); });
  }

  std::string set_name_;
  std::vector<std::string> keys_;
  std::string directory_;
  std::string snapshot_path_;
  bool from_stdin_ = false;
  bool invert_ = false;
  KeyFileFormat format_;
};

}  // namespace

extern const Verb kQuery{
    "query", "Ask whether keys may be in a set",
    "  keysieve query tags 猫                           prints maybe or absent\n"
    "  keysieve query tags 猫 犬 --json\n"
    "  keysieve query --file tags.ks tags 猫            asks a snapshot file\n"
    "  keysieve query tags --stdin < words.txt         prints the words that may be in the set\n"
    "  keysieve query tags --stdin -v < words.txt      prints the absent ones\n"
    "  keysieve query tiers sku-1                      asks a map: prints its value, absent or unknown\n"
    "  keysieve query clicks ada                       asks a seen set: prints seen or new\n"
    "A seen set is only asked: no key is added, and one that is bypassed or missing is an error. If\n"
    "a published set has the same name, that is asked.\n"
    "Exit status: 0 maybe or seen (of any key), 1 absent or new, 2 error.",
    prepare<QueryVerb>, kExitError};

}  // namespace keysieve
