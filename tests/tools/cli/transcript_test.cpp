// Plays the transcripts of this folder: what is typed, what the programs print, and how they end.
//
//   # prints its version                 a scene, which is a case: in an empty folder and a new shell
//   $ keysieve --version                 what bash runs; lines that follow with "> " belong to it
//   keysieve 0.2.0                       standard output, then standard error with "! " before each line,
//   [64]                                 then the exit status, unless it is 0
//
// Compared literally, but for the scene's folder, shown as $PWD, its file system, and {number}, {hex}, {age}
// and {time}; in a line with one of these, spaces that align may be more or fewer. What scene.sh defines,
// each scene may use. A heading that ends in "(root)", "(mounts)" or "(group)", of which scene.sh makes one,
// says what the scene needs. "(release)": it limits memory, of which sanitizers take more, so with these it
// is no case.
// KEYSIEVE_UPDATE=yes rewrites what is printed, and keeps the lines that match.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "tests/support/mounts.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {
namespace {

using Lines = std::vector<std::string>;

struct Step {
  Lines typed;
  Lines printed;
};

struct Scene {
  std::string heading;
  std::vector<Step> steps;
};

Lines lines_of(const std::string& path) {
  Lines lines;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The path of the scene's folder becomes "$PWD"; what status says of a tmpfs alone goes.
std::string without_place(std::string line, const std::string& folder) {
  for (std::size_t at = 0; (at = line.find(folder, at)) != std::string::npos;)
    line.replace(at, folder.size(), "$PWD");
  return line.substr(0, line.find("; its tmpfs has huge="));
}

std::vector<Scene> scenes_in(const std::string& path) {
  std::vector<Scene> scenes;
  Lines* printed = nullptr;
  for (const std::string& line : lines_of(path)) {
    if (line.starts_with("# ")) {
      scenes.push_back({line, {}});
      printed = nullptr;
    } else if (line.starts_with("$ ")) {
      scenes.back().steps.push_back({{line}, {}});
      printed = &scenes.back().steps.back().printed;
    } else if (line.starts_with("> ") && printed->empty()) {
      scenes.back().steps.back().typed.push_back(line);
    } else if (printed != nullptr) {
      printed->push_back(line);
    }
  }
  for (Scene& scene : scenes)
    for (Lines& last = scene.steps.back().printed; !last.empty() && last.back().empty();) last.pop_back();
  return scenes;
}

// What a line of a transcript stands for.
std::regex pattern_of(const std::string& line) {
  std::string pattern = std::regex_replace(line, std::regex(R"([\\^$.|?*+()\[\]{}])"), R"(\$&)");
  for (const auto& [name, meant] : {std::pair{"number", "[0-9][0-9.,e-]*"},
                                    {"hex", "[0-9a-f]{32,64}"},
                                    {"age", "[0-9]+[smhd]( [0-9]+[smhd])?"},
                                    {"time", "2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z"}})
    pattern = std::regex_replace(pattern, std::regex(std::string(R"(\\\{)") + name + R"(\\\})"), meant);
  return std::regex(std::regex_replace(pattern, std::regex(" +"), " +"));
}

bool matches(const std::string& expected, const std::string& line) {
  if (expected == line) return true;
  static const std::regex varies(R"(\{(number|hex|age|time)\})");
  return std::regex_search(expected, varies) && std::regex_match(line, pattern_of(expected));
}

// The lines that were printed; in the place of each that one of the expected ones stands for, in this order,
// the expected one.
Lines as_expected(Lines printed, const Lines& expected) {
  auto next = expected.begin();
  for (std::string& line : printed) {
    const auto found =
        std::find_if(next, expected.end(), [&](const auto& one) { return matches(one, line); });
    if (found == expected.end()) continue;
    line = *found;
    next = found + 1;
  }
  return printed;
}

std::string text_of(const Scene& scene) {
  std::string text = scene.heading + "\n";
  for (const Step& step : scene.steps)
    for (const Lines& lines : {step.typed, step.printed})
      for (const std::string& line : lines) text += line + "\n";
  return text;
}

// A script that leaves, of the N-th step, what it prints and how it ends in <folder>/N.out, .err and .status.
std::string script_of(const Scene& scene, const std::string& folder) {
  std::string script = ". '" KEYSIEVE_TRANSCRIPTS "/scene.sh'\n";
  for (std::size_t i = 0; i < scene.steps.size(); ++i) {
    script += "{\n";
    for (const std::string& line : scene.steps[i].typed) script += line.substr(2) + "\n";
    const std::string files = folder + "/" + std::to_string(i);
    script += "} >" + files + ".out 2>" + files + ".err\necho \"[$?]\" >" + files + ".status\n";
  }
  return script;
}

ProgramResult run_in(const TemporaryDirectory& room, const std::string& script) {
  return run_program({.program = "bash",
                      .arguments = {"-c", "cd \"$0\" && " + script, room.path()},
                      .environment = {"PATH=" KEYSIEVE_PROGRAMS ":" + std::string(::getenv("PATH"))}});
}

bool can_limit_memory() {
  return run_in(TemporaryDirectory(), ". '" KEYSIEVE_TRANSCRIPTS "/scene.sh' && group 64M").exit_status == 0;
}

Scene played(const Scene& scene) {
  const TemporaryDirectory room;
  const TemporaryDirectory records;
  const ProgramResult shell = run_in(room, script_of(scene, records.path()));
  EXPECT_EQ(shell.output + shell.errors, "");
  Scene now = scene;
  for (std::size_t i = 0; i < scene.steps.size(); ++i) {
    const std::string files = records / std::to_string(i);
    Lines printed = lines_of(files + ".out");
    for (const std::string& line : lines_of(files + ".err")) printed.push_back("! " + line);
    for (std::string& line : printed) line = without_place(line, room.path());
    const Lines status = lines_of(files + ".status");
    if (status.empty()) throw std::runtime_error("the shell ended in: " + scene.steps[i].typed.front());
    if (status != Lines{"[0]"}) printed.push_back(status[0]);
    now.steps[i].printed = as_expected(printed, scene.steps[i].printed);
  }
  return now;
}

// Writes in the transcript what a scene prints now.
void rewrite(const std::string& path, const std::string& before, const std::string& now) {
  std::ostringstream whole;
  whole << std::ifstream(path, std::ios::binary).rdbuf();
  std::string text = whole.str();
  text.replace(text.find(before), before.size(), now);
  std::ofstream(path, std::ios::binary) << text;
}

class Transcript : public ::testing::Test {
 public:
  Transcript(std::string path, Scene scene) : path_(std::move(path)), scene_(std::move(scene)) {}

  void TestBody() override {
    if (scene_.heading.ends_with(" (root)") && ::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (scene_.heading.ends_with(" (group)") && !can_limit_memory()) GTEST_SKIP() << "may not limit memory";
    if (scene_.heading.ends_with(" (mounts)") && !can_unshare_mounts()) GTEST_SKIP() << "may not mount";
    const std::string before = text_of(scene_);
    const std::string now = text_of(played(scene_));
    if (::getenv("KEYSIEVE_UPDATE") != nullptr) return rewrite(path_, before, now);
    EXPECT_EQ(now, before) << path_ << "; KEYSIEVE_UPDATE=yes writes what is printed now";
  }

 private:
  std::string path_;
  Scene scene_;
};

const bool g_are_registered = [] {
  for (const auto& file : std::filesystem::directory_iterator(KEYSIEVE_TRANSCRIPTS)) {
    const std::string path = file.path();
    if (!path.ends_with(".transcript")) continue;
    for (const Scene& scene : scenes_in(path)) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
      if (scene.heading.find("(release)") != std::string::npos) continue;
#endif
      std::string name = scene.heading.substr(2);
      std::replace_if(
          name.begin(), name.end(), [](unsigned char one) { return !std::isalnum(one); }, '_');
      ::testing::RegisterTest(file.path().stem().c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [=]() -> ::testing::Test* { return new Transcript(path, scene); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace keysieve::test
