// Measures how long a publication of a snapshot takes. publish_bench DIRECTORY SNAPSHOT PUBLICATIONS prints
// milliseconds of each as JSON: "remove", removing the old publication; "publish", the rest (copy, read back,
// check, make current); "write", only writing the bytes to another file.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "core/builder/base/file_io.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tools/workshop/bench/program.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kGeneration = 1;

template <typename Work>
double milliseconds(Work work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

void run(const std::string& directory, const std::string& path, int publications) {
  const MappedRegion region = map_file(path);
  const SnapshotView view = SnapshotView::decode(bytes_of(region), path, Check::Everything);
  const std::string set_name(view.set_name());
  const std::filesystem::path folder = std::filesystem::path(directory) / set_name;
  Publisher publisher({.directory = directory}, set_name);
  std::uint64_t current = publisher.publish(view.bytes(), kGeneration);
  current = publisher.publish(view.bytes(), kGeneration);
  for (int i = 0; i < publications; ++i) {
    const std::string beside = directory + "/beside";
    const double write = milliseconds([&] {
      const FileDescriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
      write_all(file, view.bytes(), beside);
    });
    std::filesystem::remove(beside);
    const std::filesystem::path replaced = folder / snapshot_file_name(current - 1);
    const double remove = milliseconds([&] { std::filesystem::remove(replaced); });
    const double publish = milliseconds([&] { current = publisher.publish(view.bytes(), kGeneration); });
    fmt::print("{}{{\"remove\": {}, \"publish\": {}, \"write\": {}}}", i == 0 ? '[' : ',', remove, publish,
               write);
  }
  fmt::print("]\n");
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  return keysieve::run_main(
      "publish_bench DIRECTORY SNAPSHOT PUBLICATIONS", argc, argv,
      [](char** arguments) { keysieve::run(arguments[1], arguments[2], std::atoi(arguments[3])); });
}
