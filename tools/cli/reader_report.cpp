#include "tools/cli/reader_report.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tools/cli/report.hpp"
#include "tools/program/accounts.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kShownProgram = 60;

// Of UTF-8, which is cut before a character, never within one.
std::string shortened(const std::string& program) {
  if (program.size() <= kShownProgram) return program;
  std::size_t end = kShownProgram - 1;
  while (end > 0 && (static_cast<unsigned char>(program[end]) & 0xC0) == 0x80) --end;
  return program.substr(0, end) + "…";
}

Json to_json(const ReaderProcess& reader) {
  return {{"set", reader.set_name},    {"publication", reader.publication},
          {"bytes", reader.bytes},     {"pinned", reader.is_removed},
          {"pid", reader.pid},         {"user", user_name(reader.uid)},
          {"program", reader.program}, {"started_at", reader.started_at}};
}

}  // namespace

ReaderReport::ReaderReport(const std::string& directory, const std::vector<std::string>& set_names)
    : found_(reader_processes(directory)) {
  if (set_names.empty()) return;
  std::erase_if(found_.readers, [&](const ReaderProcess& reader) {
    return std::find(set_names.begin(), set_names.end(), reader.set_name) == set_names.end();
  });
}

void ReaderReport::print() const {
  fmt::print("\n");
  if (found_.readers.empty()) {
    fmt::print("no process has a set attached\n");
  } else {
    Table table({"set", "publication", "size", "held", "pid", "user", "runs for", "program"});
    const UnixSeconds now = unix_now();
    for (const ReaderProcess& reader : found_.readers) {
      const std::chrono::seconds age(std::max<UnixSeconds>(0, now - reader.started_at));
      table.add({reader.set_name, std::to_string(reader.publication), format_bytes(reader.bytes),
                 reader.is_removed ? "pinned" : "published", std::to_string(reader.pid),
                 user_name(reader.uid), format_duration(age), shortened(reader.program)});
    }
    table.print();
  }
  if (found_.unreadable != 0) {
    fmt::print("processes that could not be looked into: {} (needs CAP_SYS_PTRACE)\n",
               format_count(found_.unreadable));
  }
}

Json ReaderReport::json() const {
  Json readers = Json::array();
  for (const ReaderProcess& reader : found_.readers) readers.push_back(to_json(reader));
  return {{"readers", readers}, {"unreadable_processes", found_.unreadable}};
}

}  // namespace keysieve
