#include "tests/faults/protocol_model.hpp"

#include <optional>

namespace keysieve::test {
namespace {

class Model {
 public:
  Model(ModelState state, const Protocol& protocol) : s_(state), protocol_(protocol) {}

  [[nodiscard]] const ModelState& state() const { return s_; }

  // One step of a publisher; `choice` is which file it removes next, where there are several.
  void publish(std::uint8_t index, std::uint8_t choice) {
    ModelPublisher& p = s_.publishers[index];
    const auto self = static_cast<std::uint8_t>(index + 1);
    switch (p.step) {
      case Step::Begin:
        p.folder = s_.folder;
        if (s_.lock == 0) s_.lock = ++s_.locks;
        p.lock = s_.lock;
        return next(p);
      case Step::Lock:
        return go_on_if(p, !is_locked_by_another(index));
      case Step::CheckLock:
      case Step::CheckLockAgain:
        return go_on_if(p, is_here(p) && s_.lock == p.lock);
      case Step::OpenControl:
        if (!is_here(p)) return fail(p);
        if (s_.control == 0) s_.control = ++s_.controls;
        p.instance = s_.control;
        return next(p);
      case Step::Hold:
        if (protocol_.holds_control && s_.holder[p.instance] != 0) return fail(p);
        s_.holder[p.instance] = self;
        return next(p);
      case Step::ReadLog:
      case Step::ReadLogAgain:
        return read_log(p);
      case Step::FillPrevious:
      case Step::FillPreviousAgain:
        return fill_previous(p);
      case Step::FillCurrent:
        return fill_current(p);
      case Step::FillCurrentAgain:
        fill_current(p);
        return end(p, index);
      case Step::List:
        return list(p);
      case Step::Remove:
        if (p.doomed == 0) return next(p);
        if (is_here(p)) remove_some(s_.names[choice / 2U], choice % 2U == 0);
        if (choice % 2U != 0) p.doomed &= static_cast<std::uint8_t>(~(1U << (choice / 2U)));
        return;
      case Step::CreateLive:
        return create(p, names_of(p).live_tmp, self);
      case Step::WriteLive:
        return write(p, names_of(p).live_tmp, self);
      case Step::CreateSnapshot:
        return create(p, names_of(p).snapshot_tmp, self);
      case Step::WriteSnapshot:
        return write(p, names_of(p).snapshot_tmp, self);
      case Step::NameLive:
        if (!protocol_.names_before_current && !make_current(p, self)) return fail(p);
        return name(p, names_of(p).live_tmp, names_of(p).live);
      case Step::NameSnapshot:
        return name(p, names_of(p).snapshot_tmp, names_of(p).snapshot);
      case Step::KeepPrevious:
        s_.previous[p.instance] =
            p.knows == 0 || p.filled == p.previous || !protocol_.fills_before_publishing ? p.previous : 0;
        return next(p);
      case Step::MakeCurrent:
        if (protocol_.names_before_current && !make_current(p, self)) return fail(p);
        return next(p);
      case Step::CleanUp:
        return clean_up(p, index);
      case Step::Ended:
        return;
    }
  }

  void kill(std::uint8_t index) {
    end(s_.publishers[index], index);
    --s_.kills;
  }

  // One step of the reader. `attaches`: it takes the new publication although it may still answer from the
  // old.
  void read(bool attaches) {
    ModelReader& r = s_.reader;
    switch (r.look) {
      case Look::Idle:
        r.must_know = s_.seen;
        r.look = Look::HasControl;
        return look_at_path();
      case Look::HasControl:
        r.wanted = s_.current[r.instance];
        r.look = r.wanted == 0 ? Look::Idle : Look::HasCurrent;
        if (r.wanted == 0) answer();
        return;
      case Look::HasCurrent:
        if (is_current()) return answer();
        if (!attaches && may_answer()) return answer();
        if (!may_answer()) r.serving = 0;
        r.look = Look::Attaching;
        return;
      case Look::Attaching:
        r.snapshot = s_.names[r.wanted].snapshot;
        r.look = r.snapshot.writer == 0 ? Look::Idle : Look::HasSnapshot;
        return;
      case Look::HasSnapshot:
        take(s_.names[r.wanted].live);
        r.snapshot = {};
        return answer();
    }
  }

  void log_the_key() { s_.logged = 1; }
  // What a process that begins now sees.
  void look_from_outside() {
    const std::uint8_t current = s_.current[s_.control];
    if (s_.control != 0 && current != 0 && has_key(s_.control, current)) s_.seen = 1;
  }

  void remove_lock() {
    s_.lock = 0;
    --s_.lock_removals;
  }
  void remove_control() {
    forget_what_only_others_saw();
    s_.control = 0;
    --s_.control_removals;
  }
  void wipe() {
    forget_what_only_others_saw();
    s_.names = {};
    s_.control = 0;
    s_.lock = 0;
    ++s_.folder;
    --s_.wipes;
  }

 private:
  [[nodiscard]] bool is_here(const ModelPublisher& p) const { return p.folder == s_.folder; }
  ModelNames& names_of(const ModelPublisher& p) { return s_.names[p.number]; }

  static void next(ModelPublisher& p) { p.step = static_cast<Step>(static_cast<std::uint8_t>(p.step) + 1); }
  static void fail(ModelPublisher& p) { p.step = Step::CleanUp; }
  static void go_on_if(ModelPublisher& p, bool holds) { holds ? next(p) : fail(p); }
  void end(ModelPublisher& p, std::uint8_t index) {
    for (std::uint8_t& holder : s_.holder) {
      if (holder == index + 1) holder = 0;
    }
    p = {};
    p.step = Step::Ended;
  }

  [[nodiscard]] bool has_key(std::uint8_t instance, std::uint8_t number) const {
    return (unsigned{s_.with_key[instance]} >> number & 1U) != 0;
  }
  void add_key(std::uint8_t instance, std::uint8_t number) {
    s_.with_key[instance] |= static_cast<std::uint8_t>(1U << number);
  }
  [[nodiscard]] bool can_open_layer(const ModelPublisher& p, std::uint8_t number) const {
    const ModelFile& live = s_.names[number].live;
    return number != 0 && is_here(p) && live.writer != 0 && live.instance == p.instance;
  }

  // A reader that sleeps through a page's whole life, from a wipe to the next removal, has never seen that
  // page.
  void forget_what_only_others_saw() {
    if (s_.control != s_.reader.instance) s_.seen = 0;
  }

  void read_log(ModelPublisher& p) {
    if (s_.logged != 0) s_.received = 1;
    p.knows = s_.received;
    next(p);
  }
  // No reader answers from a publication that the key cannot be added to.
  void fill_previous(ModelPublisher& p) {
    next(p);
    if (p.knows == 0 || !protocol_.adds_to_previous) return;
    if (p.step == Step::FillCurrent && !protocol_.fills_before_publishing) return;
    std::uint8_t& previous = s_.previous[p.instance];
    if (can_open_layer(p, previous)) {
      add_key(p.instance, previous);
    } else {
      previous = 0;
    }
  }
  void fill_current(ModelPublisher& p) {
    const bool is_before = p.step == Step::FillCurrent;
    next(p);
    if (p.knows == 0 || (is_before && !protocol_.fills_before_publishing)) return;
    const std::uint8_t current = s_.current[p.instance];
    if (!can_open_layer(p, current)) return;
    add_key(p.instance, current);
    p.filled = current;
  }

  // A mapped publication keeps serving while nothing is published, unless it was too old even for the page
  // before.
  void look_at_path() {
    ModelReader& r = s_.reader;
    if (s_.control == 0 || s_.control == r.instance) return;
    r.wanted = s_.current[r.instance];
    if (r.instance != 0 && r.wanted != 0 && !is_current() && !may_answer()) r.serving = 0;
    r.instance = s_.control;
  }
  [[nodiscard]] bool is_current() const {
    const ModelReader& r = s_.reader;
    return r.serving == r.wanted && r.serving_instance == r.instance;
  }
  [[nodiscard]] bool may_answer() const {
    const ModelReader& r = s_.reader;
    if (!protocol_.asks_previous_at_most) return true;
    return r.serving == s_.previous[r.instance] && r.serving_instance == r.instance;
  }
  // Answers for the added key. A reader that has no publication answers maybe.
  void answer() {
    ModelReader& r = s_.reader;
    r.look = Look::Idle;
    if (r.serving != 0 && r.must_know != 0 && !has_key(r.serving_instance, r.serving)) s_.is_lost = 1;
    r.must_know = 0;
  }

  [[nodiscard]] bool is_locked_by_another(std::uint8_t index) const {
    const ModelPublisher& p = s_.publishers[index];
    for (std::uint8_t other = 0; other < kPublishers; ++other) {
      const ModelPublisher& o = s_.publishers[other];
      if (other != index && o.lock == p.lock && o.step > Step::Lock && o.step != Step::Ended) return true;
    }
    return false;
  }

  static bool is_there(const ModelNames& names) {
    return names.snapshot.writer + names.live.writer + names.snapshot_tmp.writer + names.live_tmp.writer != 0;
  }

  void list(ModelPublisher& p) {
    p.previous = s_.current[p.instance];
    std::uint8_t highest = p.previous;
    for (std::uint8_t number = 1; number < kNumbers && is_here(p); ++number) {
      if (!is_there(s_.names[number])) continue;
      highest = std::max(highest, number);
      if (number != p.previous || !protocol_.keeps_current)
        p.doomed |= static_cast<std::uint8_t>(1U << number);
    }
    p.number = static_cast<std::uint8_t>(highest + 1);
    if (p.number >= kNumbers) return fail(p);
    next(p);
  }

  static void remove_some(ModelNames& names, bool live) {
    (live ? names.live : names.snapshot) = {};
    (live ? names.live_tmp : names.snapshot_tmp) = {};
  }

  void create(ModelPublisher& p, ModelFile& file, std::uint8_t self) {
    if (!is_here(p) || file.writer != 0) return fail(p);
    file = {self, 0, p.instance};
    ++p.created;
    next(p);
  }
  // Writes to the file that it has opened, whether that still has its name or not.
  void write(ModelPublisher& p, ModelFile& file, std::uint8_t self) {
    if (is_here(p) && file.writer == self) file.whole = 1;
    next(p);
  }
  void name(ModelPublisher& p, ModelFile& from, ModelFile& to) {
    if (!is_here(p) || from.writer == 0 || to.writer != 0) return fail(p);
    to = from;
    from = {};
    ++p.named;
    next(p);
  }
  bool make_current(const ModelPublisher& p, std::uint8_t self) {
    if (s_.current[p.instance] != p.previous) return false;
    s_.current[p.instance] = p.number;
    if (p.knows != 0) add_key(p.instance, p.number);
    s_.made_by[p.instance][p.number] = self;
    return true;
  }
  // Removes by name, so also a file that another publisher has put there.
  void clean_up(ModelPublisher& p, std::uint8_t index) {
    if (is_here(p) && p.created > 0) (p.named > 0 ? names_of(p).live : names_of(p).live_tmp) = {};
    if (is_here(p) && p.created > 1) (p.named > 1 ? names_of(p).snapshot : names_of(p).snapshot_tmp) = {};
    end(p, index);
  }

  // Both files are open. Checks that SetReader takes the right ones.
  void take(const ModelFile& live) {
    ModelReader& r = s_.reader;
    if (live.writer == 0) return;
    if (protocol_.checks_instance && live.instance != r.instance) {
      if (r.instance == s_.control) s_.is_wrong = 1;  // it would refuse what is current for good
      return;
    }
    const std::uint8_t maker = s_.made_by[r.instance][r.wanted];
    const bool is_right =
        live.whole != 0 && r.snapshot.whole != 0 && live.writer == maker && r.snapshot.writer == maker;
    const bool has_fallen = r.instance == r.serving_instance && r.wanted < r.serving;
    if (!is_right || has_fallen) s_.is_wrong = 1;
    r.serving_instance = r.instance;
    r.serving = r.wanted;
  }

  ModelState s_;
  const Protocol& protocol_;
};

}  // namespace

bool is_served(const ModelState& state) {
  const std::uint8_t current = state.current[state.control];
  if (state.control == 0 || current == 0) return true;  // nothing is published
  const ModelNames& names = state.names[current];
  const std::uint8_t maker = state.made_by[state.control][current];
  return names.snapshot.writer == maker && names.live.writer == maker && names.snapshot.whole != 0 &&
         names.live.whole != 0;
}

std::vector<ModelState> successors(const ModelState& state, const Protocol& protocol) {
  std::vector<ModelState> next;
  const auto after = [&](auto deed) {
    Model model(state, protocol);
    deed(model);
    model.look_from_outside();
    next.push_back(model.state());
  };
  for (std::uint8_t i = 0; i < kPublishers; ++i) {
    const ModelPublisher& p = state.publishers[i];
    if (p.step == Step::Ended) continue;
    // The publishers are alike, so it does not matter which one begins first.
    if (p.step == Step::Begin && i > 0 && state.publishers[i - 1U].step == Step::Begin) continue;
    if (p.step == Step::Remove && p.doomed != 0) {
      for (std::uint8_t number = 1; number < kNumbers; ++number) {
        if ((p.doomed >> number & 1U) == 0) continue;
        const bool has_live =
            state.names[number].live.writer != 0 || state.names[number].live_tmp.writer != 0;
        const auto choice = static_cast<std::uint8_t>(2 * number + (has_live ? 0 : 1));
        after([&](Model& model) { model.publish(i, choice); });
      }
    } else {
      after([&](Model& model) { model.publish(i, 0); });
    }
    if (state.kills > 0 && p.step != Step::Begin) after([&](Model& model) { model.kill(i); });
  }
  after([](Model& model) { model.read(false); });
  after([](Model& model) { model.read(true); });
  if (state.logged == 0) after([](Model& model) { model.log_the_key(); });
  if (state.lock_removals > 0 && state.lock != 0) after([](Model& model) { model.remove_lock(); });
  if (state.control_removals > 0 && state.control != 0) after([](Model& model) { model.remove_control(); });
  if (state.wipes > 0) after([](Model& model) { model.wipe(); });
  return next;
}

}  // namespace keysieve::test
