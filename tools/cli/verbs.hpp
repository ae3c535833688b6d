// The verbs of keysieve: each adds itself, with its options and examples, to the command line. One file per
// verb.
#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace keysieve {

// What a verb leaves for main() when it has run.
struct VerbResult {
  int exit_status = 0;
  std::optional<int> error_status;  // of any error, where the verb has statuses of its own
};

void add_plan(CLI::App& program, VerbResult& result);
void add_build(CLI::App& program, VerbResult& result);
void add_inspect(CLI::App& program, VerbResult& result);
void add_verify(CLI::App& program, VerbResult& result);
void add_push(CLI::App& program, VerbResult& result);
void add_pull(CLI::App& program, VerbResult& result);
void add_add(CLI::App& program, VerbResult& result);
void add_publish(CLI::App& program, VerbResult& result);
void add_query(CLI::App& program, VerbResult& result);
void add_status(CLI::App& program, VerbResult& result);
void add_bypass(CLI::App& program, VerbResult& result);
void add_rollback(CLI::App& program, VerbResult& result);
void add_list(CLI::App& program, VerbResult& result);
void add_delete(CLI::App& program, VerbResult& result);
void add_seed(CLI::App& program, VerbResult& result);
void add_keygen(CLI::App& program, VerbResult& result);
void add_doctor(CLI::App& program, VerbResult& result);

}  // namespace keysieve
