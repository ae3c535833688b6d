// Publication, bypasses and live layers: docs/concurrency.md.
#include "tests/memory_model/modelled_atomic.hpp"
// then, with the model's atomics
#include "core/publisher/shm/bypass.hpp"
#include "core/publisher/shm/new_layer.hpp"
#include "core/worker/shm/control_file.hpp"
#include "core/worker/shm/live_layer.hpp"
#include "tests/memory_model/protocols.hpp"

namespace keysieve::model {
namespace {

constexpr const char* kPublisher = "core/publisher/shm/publisher.cpp";
constexpr std::uint64_t kWhole = 1;  // what the files of a publication hold

// As Publisher::make_current().
void make_current(ControlPage& page, std::uint64_t publication) {
  static const Quoted kLoad = quote(kPublisher, "std::uint64_t word = current.load(");
  static const Quoted kExchange = quote(kPublisher, "current.compare_exchange_weak(");
  std::uint64_t word = page.current.load(kLoad);
  while (!page.current.compare_exchange(word, (word & (kBypassBit | kStoreBypassBit)) | publication,
                                        kExchange)) {
  }
}

// As SetReader::begin_call(), and refresh() if that returns true.
std::uint64_t load_current(const ControlPage& page, std::uint64_t serving) {
  static const Quoted kBegin =
      quote("core/worker/shm/set_reader.hpp", "pace_.count_call() || current_->load(");
  static const Quoted kRefresh = quote("core/worker/shm/set_reader.cpp", "word = current_->load(");
  const std::uint64_t word = page.current.load(kBegin);
  return word == serving ? word : page.current.load(kRefresh);
}

struct Published {
  ControlPage page{};
  std::array<Value, 4> snapshot;
  std::array<Value, 4> live;

  Published() {
    page.current.store(1);
    snapshot[1].put(kWhole);
    live[1].put(kWhole);
  }
  void publish(std::uint64_t publication) {
    snapshot[publication].put(kWhole);
    live[publication].put(kWhole);
    make_current(page, publication);
  }
};

Program publication() {
  const auto s = std::make_shared<Published>();
  const auto publisher = [s] {
    s->publish(2);
    s->publish(3);
  };
  const auto reader = [s] {
    std::uint64_t serving = 1;
    for (int calls = 0; calls < 2; ++calls) {
      const std::uint64_t before = serving;
      serving = load_current(s->page, serving);
      require(serving >= before, "a reader never goes back to an older publication");
      require(s->snapshot[serving].get() == kWhole && s->live[serving].get() == kWhole,
              "a publication is complete before its number can be read");
    }
  };
  return {{publisher, reader}, {}};
}

constexpr UnixSeconds kNow = 10;

// An operator switches a bypass on while a publication becomes current.
Program bypass_on() {
  const auto s = std::make_shared<Published>();
  s->page.bypass_until.store(kBypassOver);
  const auto operator_ = [s] { bypass_of(s->page, kOperatorBypass).switch_to(kNow + 1); };
  const auto reader = [s] {
    const std::uint64_t word = load_current(s->page, 1);
    require((word & kBypassBit) == 0 || bypasses_in_force(word, ends_of(s->page), kNow) == kBypassBit,
            "a reader that sees the bit of a bypass sees its end");
  };
  return {{operator_, [s] { s->publish(2); }, reader},
          [s] { require((s->page.current.load() & kBypassBit) != 0, "a publication keeps a bypass"); }};
}

// What an operator does while the loader ends the bypass before.
Program while_one_ends(void (*operate)(const PageBypass& bypass), std::uint64_t in_force, const char* what) {
  const auto s = std::make_shared<Published>();
  s->page.current.store(1 | kBypassBit);
  s->page.bypass_until.store(kNow - 1);
  const auto loader = [s] { bypass_of(s->page, kOperatorBypass).clear_if_over(kNow); };
  const auto operator_ = [=] { operate(bypass_of(s->page, kOperatorBypass)); };
  return {{loader, operator_}, [=] {
            const std::uint64_t word = s->page.current.load();
            require(bypasses_in_force(word, ends_of(s->page), kNow) == in_force, what);
          }};
}

Program bypass_again() {
  return while_one_ends([](const PageBypass& bypass) { bypass.switch_to(kNow + 1); }, kBypassBit,
                        "a new bypass outlives the one before");
}

Program bypass_again_and_off() {
  return while_one_ends(
      [](const PageBypass& bypass) {
        bypass.switch_to(kNow + 1);
        bypass.switch_to(kBypassOver);
      },
      0, "a bypass that was switched off stays off");
}

// An operator switches a bypass on whose bit the one before has left, so that the end alone changes. As
// SetReader::refresh(), which each call comes to then.
Program bypass_of_another_end() {
  struct Told : Published {
    Value is_told;
  };
  const auto s = std::make_shared<Told>();
  s->page.current.store(1 | kBypassBit);
  s->page.bypass_until.store(kNow - 1);
  const auto operator_ = [s] {
    bypass_of(s->page, kOperatorBypass).switch_to(kNow + 1);
    s->is_told.tell();
  };
  const auto reader = [s] {
    std::uint64_t word = 1 | kBypassBit;
    BypassEnds ends{kNow - 1};
    for (int calls = 0; calls < 2; ++calls) {
      const bool is_told = s->is_told.hears();
      if (has_changed(s->page, word, ends)) {
        word = load_current(s->page, 0);
        ends = ends_of(s->page);
      }
      require(!is_told || bypasses_in_force(word, ends, kNow) == kBypassBit,
              "a bypass holds for everyone who has heard of it");
    }
  };
  return {{operator_, reader}, {}};
}

// A layer of one block, and keys that belong to it.
constexpr LayerGeometry kGeometry{.shard_count = 1};
struct Layer {
  std::array<LayerLane, SplitBlock::kLanes> lanes;
  ModelledAtomic<std::uint64_t> keys;

  [[nodiscard]] bool may_contain(KeyHash key) const {
    return LiveLayer(lanes.data(), kGeometry, &keys).may_contain(key);
  }
  [[nodiscard]] std::uint64_t count() const { return LiveLayer(lanes.data(), kGeometry, &keys).keys(); }
  // As LayerWriter::add().
  void add(KeyHash key) {
    static const Quoted kLoad = quote("core/publisher/shm/layer_writer.hpp", "live_keys.load(");
    static const Quoted kStore = quote("core/publisher/shm/layer_writer.hpp", "live_keys.store(");
    const bool is_new = set_layer_bits(lanes.data(), kGeometry, key);
    const std::uint64_t before = keys.load(kLoad);
    if (is_new || before == 0) keys.store(before + 1, kStore);
  }
};

// The key of that number among those of the first block.
KeyHash layer_key(int number) {
  KeyHash key{0};
  for (int found = -1; found < number; found += first_lane_of(key, kGeometry) == 0 ? 1 : 0) key.word += kG;
  return key;
}

Program counted_keys() {
  const auto layer = std::make_shared<Layer>();
  const auto writer = [=] {
    layer->add(layer_key(0));
    layer->add(layer_key(1));
  };
  const auto reader = [=] {
    const std::uint64_t keys = layer->count();
    for (int i = 0; i < static_cast<int>(keys); ++i)
      require(layer->may_contain(layer_key(i)), "a reader that sees the count sees the bits");
  };
  return {{writer, reader}, {}};
}

// A worker that has seen an added key tells another one, which may not have noticed a new publication yet.
struct Layers : Published {
  std::array<Layer, 3> layers;
  Value has_seen;
  KeyHash key = layer_key(1);

  Layers() {
    for (Layer& layer : layers) layer.add(layer_key(0));
  }
  [[nodiscard]] bool may_contain(std::uint64_t serving) const {
    return layers[load_current(page, serving)].may_contain(key);
  }
  // With these publications mapped.
  static std::function<void()> seeing(const std::shared_ptr<Layers>& s, std::uint64_t mapped) {
    return [s, mapped] {
      if (s->may_contain(mapped)) s->has_seen.tell();
    };
  }
  static std::function<void()> hearing(const std::shared_ptr<Layers>& s, std::uint64_t mapped) {
    return [s, mapped] {
      if (s->has_seen.hears()) require(s->may_contain(mapped), "a key that was seen is absent nowhere");
    };
  }
};

// The next publication's layer has the key, too.
Program key_before_a_publication() {
  const auto s = std::make_shared<Layers>();
  const auto loader = [s] {
    s->layers[1].add(s->key);
    s->layers[2].add(s->key);
    s->publish(2);
  };
  return {{loader, Layers::seeing(s, 1), Layers::hearing(s, 1)}, {}};
}

// Only the current layer gets the key.
Program key_after_a_publication() {
  const auto s = std::make_shared<Layers>();
  const auto loader = [s] {
    s->publish(2);
    s->layers[2].add(s->key);
  };
  return {{loader, Layers::seeing(s, 1), Layers::hearing(s, 1)}, {}};
}

}  // namespace

std::vector<Protocol> published_sets() {
  return {{"a publication", publication},
          {"a bypass switched on", bypass_on},
          {"a bypass switched on again", bypass_again},
          {"a bypass switched on again and off", bypass_again_and_off},
          {"a bypass of another end", bypass_of_another_end},
          {"counted keys", counted_keys},
          {"a key before a publication", key_before_a_publication},
          {"a key after a publication", key_after_a_publication}};
}

}  // namespace keysieve::model
