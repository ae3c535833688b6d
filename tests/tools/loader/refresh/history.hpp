// Plays histories of one set on one host, written as "push; look; add 20; look; rollback; look", with a store
// of a real kind. Checks the promises of the simulation (tests/simulation/promises.hpp) after each step, for
// a process that was there from the beginning and for one that comes now.
#pragma once

#include <string>
#include <string_view>

#include "tests/simulation/promises.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"

namespace keysieve::test {

// What a step takes from the store's contents.
enum class Part { All, Log, Records };

// A kind of store whose contents can be copied under a name, and brought back. "" are those in use.
struct HistoryStore {
  const char* name;
  std::string (*empty_store)(const TemporaryDirectory& root);
  // Replaces that part of `to`. A part that was never copied is empty.
  void (*copy)(const TemporaryDirectory& root, const std::string& from, const std::string& to, Part part);
};
extern const HistoryStore kDirHistory;
extern const HistoryStore kRedisHistory;
extern const HistoryStore kMemcachedHistory;  // has no log, and can only be emptied

// The source has the keys 0 to 9 when a history begins. After a step that fails nothing is played.
class History : public SetRefresherTest {
 protected:
  explicit History(const HistoryStore& kind);

  // Steps, which a semicolon parts. R: keys, such as 20 or 30-39. N: a name.
  // - import R, drop R: keys come into the source, or leave it, without an add.
  // - add R: adds the keys, and commits them. flood: adds 70,000 others, more than one look reads.
  // - push, build N, push N: builds the source with all that was added so far; pushes that build.
  // - rebuild: builds and pushes; the build begins now, and knows no open transaction.
  // - rollback, rollback far: to the generation before, or to the oldest one.
  // - look, look TROUBLE, look TROUBLE maybe: looks until all is done. maybe: so is every answer.
  // - take, take no: brings in adds without a look, or does not. hear: unless a record has changed, too.
  // - restart, reboot, new host: the loader's process begins again; without memory; without its cache, too.
  // - lose mirror: the cache loses the adds. lose cache: and all else.
  // - away, back: the store cannot be asked, and can again.
  // - save N, load N, load log N, load records N: copies what the store holds, and brings it back.
  // - lose log, lose pointer, wipe, delete: the store loses them, or all; as `keysieve delete`.
  // - mark: the end of its log moves.
  // - spoil pointer, swell pointer, spoil bypass: the record holds something else, or too much.
  // - block F, unblock F: a folder stands in the place of pointer or bypass of a dir: store, or of the
  // mirror.
  // - open F, shut F: all users may write to the cache, or to the mirror.
  // - damage shard, damage tables, damage file: what is live loses some bytes, or its file.
  // - publish: builds and publishes by hand, without what was added.
  // - bypass set, bypass all, lift set, lift all: of the store. bypass all over: until now.
  // - bypass here, lift here: the operator's own.
  // - shrink, guard: the host's guards are the usual ones; they refuse every build.
  // - live N, has R: the build with that number answers, 0: none; the keys are maybe.
  // - mirrored N: the cache has so many adds. troubles T...: those in shared memory.
  // - X fails: the step X throws an Error.
  void play(std::string_view script);
  // To every key, because adds are lost.
  [[nodiscard]] bool answers_maybe() { return workers_.attached() == nullptr && workers_.answers_maybe(); }

  const HistoryStore& kind_;

 private:
  // The processes of the host that look keys up.
  class Workers final : public PromisedHost {
   public:
    explicit Workers(std::string directory) : PromisedHost("the host"), directory_(std::move(directory)) {}
    const Attachment* attached() override;
    [[nodiscard]] bool answers_maybe() const override {
      return new_->availability() == Availability::Bypassed;
    }
    void begin_again() { old_.emplace(ReaderSettings{.directory = directory_}, kSimulatedSet); }

   private:
    std::string directory_;
    std::optional<SetReader> old_{std::in_place, ReaderSettings{.directory = directory_}, kSimulatedSet};
    std::optional<SetReader> new_;
  };

  [[nodiscard]] std::string path_of(const std::string& file) const;
  void step(const std::string& text);
  bool change_source(const std::vector<std::string>& words);
  bool change_store(const std::vector<std::string>& words);
  bool change_host(const std::vector<std::string>& words);
  bool expect(const std::vector<std::string>& words);
  void look(const std::vector<std::string>& words);
  void add(const std::vector<std::string>& keys, const Keys& counted);
  const Build& build(const LogPosition& adds_from);
  void push(const Build& build);
  void load(const std::string& name, Part part);
  void damage(const std::string& part);
  void reboot(bool with_disk);

  std::unique_ptr<Store> direct_;
  Promises promises_;
  Workers workers_{site_.directory()};
  std::map<std::string, const Build*> builds_;
  std::map<std::string, Logged> saved_;
  UnixSeconds as_of_ = 1'700'000'000;
  bool is_spoiled_ = false;    // the pointer record: then nothing is read from it
  bool is_unchecked_ = false;  // what is live, until the next look
};

}  // namespace keysieve::test
