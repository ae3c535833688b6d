#include "tests/tools/loader/refresh/history.hpp"

#include <filesystem>
#include <sstream>
#include <thread>

#include "core/publisher/shm/bypass.hpp"
#include "tests/support/memcached_server.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/store_kinds.hpp"
#include "tools/loader/adds/adds_mirror.hpp"
#include "tools/transfer/delete_set.hpp"
#include "tools/transfer/store_bypass.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve::test {
namespace {

namespace fs = std::filesystem;

const std::string kPointer = "keysieve:tags:current";

void copy_folder(const TemporaryDirectory& root, const std::string& from, const std::string& to, Part part) {
  const auto folder = [&](const std::string& name) {
    return root / (name.empty() ? "store" : "saved-" + name);
  };
  const auto each_file = [part](const fs::path& of, const auto& work) {
    for (const auto& file : fs::directory_iterator(of)) {
      const std::string name = file.path().filename();
      if (name == ".lock" || name == ".changes") continue;
      if (part == Part::All || (part == Part::Log) == name.starts_with(".log-")) work(file.path());
    }
  };
  for (const std::string& name : {from, to}) fs::create_directory(folder(name));
  each_file(folder(to), [](const fs::path& file) { fs::remove(file); });
  each_file(folder(from), [&](const fs::path& file) { fs::copy_file(file, folder(to) / file.filename()); });
}

void copy_keys(const TemporaryDirectory& /*root*/, const std::string& from, const std::string& to,
               Part part) {
  const std::string taken = part == Part::All ? "true" : part == Part::Log ? "is_log" : "not is_log";
  const std::string script =
      "for _, name in ipairs({ARGV[2], ARGV[1]}) do"
      " for _, key in ipairs(redis.call('KEYS', name .. 'keysieve:*')) do"
      "  local is_log = string.sub(key, -5) == ':adds'"
      "  if " +
      taken +
      " then"
      "   if name == ARGV[2] then redis.call('DEL', key)"
      "   else redis.call('COPY', key, ARGV[2] .. string.sub(key, #name + 1)) end"
      "  end end end return 1";
  const auto argument = [](const std::string& name) {
    return " \"" + (name.empty() ? "" : name + "/") + "\"";
  };
  EXPECT_EQ(shared_redis().command("EVAL \"" + script + "\" 0" + argument(from) + argument(to)), ":1");
}

Keys keys_of(const std::string& range) {
  const std::size_t dash = range.find('-');
  const int first = std::stoi(range);
  const int last = dash == std::string::npos ? first : std::stoi(range.substr(dash + 1));
  Keys keys;
  for (int key = first; key <= last; ++key) keys.insert(key);
  return keys;
}

}  // namespace

const HistoryStore kDirHistory{"dir", [](const TemporaryDirectory& root) { return "dir:" + root / "store"; },
                               copy_folder};
const HistoryStore kRedisHistory{"redis",
                                 [](const TemporaryDirectory&) {
                                   shared_redis().command("FLUSHALL");
                                   return patient(shared_redis().unix_url());
                                 },
                                 copy_keys};

const HistoryStore kMemcachedHistory{"memcached",
                                     [](const TemporaryDirectory&) {
                                       shared_memcached().flush();
                                       return patient(shared_memcached().url());
                                     },
                                     [](const TemporaryDirectory&, const std::string&, const std::string&,
                                        Part) { shared_memcached().flush(); }};

// Both answer alike, because the current publication alone answers.
const Attachment* History::Workers::attached() {
  new_.emplace(ReaderSettings{.directory = directory_}, kSimulatedSet);
  const Attachment* now = new_->follow();
  old_->check_soon();
  const Attachment* then = old_->follow();
  if ((now == nullptr) != (then == nullptr) || (now != nullptr && now->id() != then->id()))
    throw Broken{"an old process answers otherwise than a new one"};
  return then;
}

History::History(const HistoryStore& kind)
    : kind_(kind),
      direct_(open_store(url_ = kind.empty_store(site_.root()))),
      promises_(*direct_, [](auto) {}) {
  set_.guards.max_shrink = {};
  set_.guards.max_changed = 1;
  start();
  promises_.watch(workers_);
  events_.after_log = [this](auto& entries) { promises_.has_read_log(workers_, entries); };
  for (int key = 0; key < 10; ++key) promises_.import(key);
}

void History::play(std::string_view script) {
  std::istringstream steps{std::string(script)};
  for (std::string text; std::getline(steps >> std::ws, text, ';') && !HasFailure();) {
    SCOPED_TRACE(text);
    try {
      step(text);
      if (!is_spoiled_) promises_.has_written();
      if (!is_unchecked_) promises_.check(workers_);
    } catch (const Broken& broken) {
      ADD_FAILURE() << broken.what;
    }
  }
}

std::string History::path_of(const std::string& file) const {
  if (file == "cache") return site_.cache();
  if (file == "mirror") return site_.cache() + "/tags.adds";
  return site_.root() / ("store/" + (file == "bypass" ? "keysieve:bypass" : kPointer));
}

void History::step(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.back() == "fails") {
    words.pop_back();
    EXPECT_THROW(change_store(words), Error);
  } else if (!change_source(words) && !change_store(words) && !change_host(words) && !expect(words)) {
    throw std::logic_error("no step: " + text);
  }
}

bool History::change_source(const std::vector<std::string>& words) {
  if (words[0] != "import" && words[0] != "drop") return false;
  for (const int key : keys_of(words.at(1)))
    words[0] == "import" ? promises_.import(key) : promises_.drop(key);
  return true;
}

void History::add(const std::vector<std::string>& keys, const Keys& counted) {
  for (const int key : counted) promises_.begin_add(key);
  direct_->append(kLog, keys);
  for (const int key : counted) promises_.end_add(key, /*is_committed=*/true);
}

const Build& History::build(const LogPosition& adds_from) {
  return promises_.build(promises_.source(), adds_from, as_of_++);
}

void History::push(const Build& build) {
  keysieve::push(*direct_, SnapshotView::decode(build.snapshot.get(), "built", Check::Tables),
                 {.min_keys = 1, .max_shrink = {}, .max_changed = 1});
}

void History::load(const std::string& name, Part part) {
  kind_.copy(site_.root(), name, "", part);
  is_spoiled_ = false;
  promises_.store_was_replaced(part == Part::Records ? promises_.logged() : saved_[name]);
}

bool History::change_store(const std::vector<std::string>& words) {
  const std::string& verb = words[0];
  const std::string last = words.back();
  if (verb == "add") {
    std::vector<std::string> texts;
    for (const int key : keys_of(last)) texts.push_back(key_text(key));
    add(texts, keys_of(last));
  } else if (verb == "flood") {
    add(numbered("flood-9", 70'000), {});
  } else if (verb == "build") {
    builds_[last] = &build(direct_->end_of(kLog));
  } else if (verb == "push") {
    push(words.size() == 1 ? build(direct_->end_of(kLog)) : *builds_.at(last));
  } else if (verb == "rebuild") {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // positions are milliseconds
    direct_->mark(kLog);
    push(build(adds_from(*direct_, kSimulatedSet, unix_now_ms(), std::chrono::milliseconds(0))));
  } else if (verb == "rollback") {
    const auto previous = read_pointer(*direct_, kSimulatedSet)->previous;
    const auto& to = last == "far" ? previous.back() : previous.front();
    rollback(*direct_, kSimulatedSet, plan_rollback(*direct_, kSimulatedSet, to.generation));
  } else if (verb == "save") {
    kind_.copy(site_.root(), "", last, Part::All);
    saved_[last] = promises_.logged();
  } else if (verb == "load") {
    load(last, words[1] == "log" ? Part::Log : words[1] == "records" ? Part::Records : Part::All);
  } else if (verb == "lose" && last == "log") {
    load("nothing", Part::Log);
  } else if (verb == "lose" && last == "pointer") {
    remove_record(*direct_, kPointer);
  } else if (verb == "spoil" || verb == "swell") {
    is_spoiled_ = last == "pointer";
    put(*direct_, last == "bypass" ? "keysieve:bypass" : kPointer,
        verb == "swell" ? std::string(kMaxValueBytes + 1, ' ') : "{");
  } else if ((verb == "bypass" || verb == "lift") && last != "here") {
    const UnixSeconds until = last == "over" ? 1 : 0;
    set_store_bypass(*direct_, last == "set" ? std::optional<std::string>(kSimulatedSet) : std::nullopt,
                     verb == "bypass" ? std::optional(until) : std::nullopt);
  } else if (verb == "mark") {
    direct_->mark(kLog);
  } else if (verb == "wipe") {
    load("nothing", Part::All);
  } else if (verb == "delete") {
    delete_set(*direct_, kSimulatedSet);
    promises_.store_was_replaced({});
  } else if (verb == "away" || verb == "back") {
    events_.before_records = events_.before_fetch = events_.before_log = [is_away = verb == "away"] {
      if (is_away) lose_connection();
    };
  } else {
    return false;
  }
  return true;
}

void History::damage(const std::string& part) {
  is_unchecked_ = true;
  const fs::path file =
      site_.directory() + "/tags/" + snapshot_file_name(site_.live(kSimulatedSet)->id.publication);
  if (part == "file") {
    fs::remove(file);
    return;
  }
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  const std::uint64_t offset = part == "tables" ? kPageBytes : fs::file_size(file) - kPageBytes;
  stream.seekp(static_cast<std::streamoff>(offset));
  stream << std::string(kPageBytes, '\0') << std::flush;
  EXPECT_TRUE(stream.good());
}

void History::reboot(bool with_disk) {
  site_.wipe_shared_memory();
  for (const auto& entry : fs::directory_iterator(site_.cache())) {
    if (with_disk) fs::remove_all(entry);
  }
  workers_.begin_again();
  promises_.has_rebooted(workers_, with_disk);
}

void History::look(const std::vector<std::string>& words) {
  is_unchecked_ = false;
  promises_.begins_look(workers_);
  do refresh();
  while (refresher_->has_more());
  const RefreshOutcome& outcome = refresher_->outcome();
  promises_.has_looked(workers_, outcome);
  const std::string trouble = words.size() == 1 ? "none" : words[1];
  EXPECT_EQ(to_string(outcome.trouble), trouble) << outcome.reason;
  EXPECT_EQ(outcome.is_good(), outcome.exit_status == 0);
  EXPECT_EQ(answers_maybe(), trouble == "adds_lost" || words.back() == "maybe") << outcome.reason;
}

bool History::change_host(const std::vector<std::string>& words) {
  const std::string& verb = words[0];
  if (verb == "look") {
    look(words);
  } else if (verb == "take" || verb == "hear") {
    promises_.begins_reading(workers_);
    const Changed changed = verb == "take" ? Changed::Adds : Changed::Anything;
    EXPECT_EQ(refresher_->take_adds(now_, changed), words.back() != "no");
    if (words.back() != "no") promises_.has_read(workers_);
  } else if (verb == "restart") {
    start();
  } else if (verb == "reboot" || verb == "new") {
    reboot(verb == "new");
    start();
    refresher_->publish_cached(now_);
    promises_.has_started(workers_);
  } else if (verb == "bypass" || verb == "lift") {
    set_bypass(site_.directory(), kSimulatedSet, verb == "bypass" ? 0 : kBypassOver);
  } else if (verb == "block" || verb == "unblock") {
    is_spoiled_ = is_spoiled_ || words.back() == "pointer";
    fs::remove(path_of(words.back()));
    if (verb == "block") fs::create_directory(path_of(words.back()));
  } else if (verb == "open" || verb == "shut") {
    const unsigned own = words.back() == "cache" ? 0755 : 0640;
    fs::permissions(path_of(words.back()), fs::perms(verb == "open" ? 0777 : own));
  } else if (verb == "publish") {
    is_unchecked_ = true;
    const Build& by_hand = build({});
    promises_.publishes_by_hand(workers_);
    Publisher({.directory = site_.directory()}, kSimulatedSet).publish(by_hand.snapshot.get(), 0);
  } else if (verb == "damage") {
    damage(words.back());
  } else if (words.back() == "mirror") {
    fs::remove(path_of("mirror"));
  } else if (words.back() == "cache") {
    for (const auto& file : fs::directory_iterator(site_.cache())) fs::remove(file);
  } else if (verb == "shrink" || verb == "guard") {
    set_.guards = Guards{};
    if (verb == "guard") set_.guards.min_keys = 1000;
    start();
  } else {
    return false;
  }
  return true;
}

bool History::expect(const std::vector<std::string>& words) {
  const Attachment* attached = workers_.attached();
  if (words[0] == "live") {
    EXPECT_EQ(attached == nullptr ? "no build" : promises_.name_of(attached->snapshot().header().build_id),
              words.at(1) == "0" ? "no build" : "build " + words.at(1));
  } else if (words[0] == "has") {
    for (const int key : keys_of(words.at(1))) {
      EXPECT_TRUE(attached == nullptr || attached->may_contain(attached->snapshot().hasher()(key_text(key))))
          << key_text(key);
    }
  } else if (words[0] == "mirrored") {
    AddsMirror mirror(path_of("mirror"));
    mirror.load();
    EXPECT_EQ(mirror.count_after({}), std::stoull(words.at(1)));
  } else if (words[0] == "troubles") {
    SetReader reader = status_reader(site_.directory(), kSimulatedSet);
    reader.follow();
    EXPECT_THAT(Troubles(reader.control()->troubles.load()).names(),
                ::testing::ElementsAreArray(words.begin() + 1, words.end()));
  } else {
    return false;
  }
  return true;
}

}  // namespace keysieve::test
