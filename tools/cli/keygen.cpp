// keysieve keygen: a secret key that signs snapshots, and its public key.
#include <CLI/CLI.hpp>
#include <memory>

#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/signatures/signing_key.hpp"

namespace keysieve {
namespace {

struct KeygenOptions {
  std::string path;
  bool show = false;
};

void keygen(const KeygenOptions& options) {
  const SigningKey key = options.show ? SigningKey::load(options.path) : SigningKey::create(options.path);
  Report report;
  if (!options.show) report.add("written", options.path + ", for builders alone", "file", options.path);
  report.add("public key", to_hex(key.public_key()), "public_key", to_hex(key.public_key()));
  report.print();
}

}  // namespace

void add_keygen(CLI::App& program, VerbResult& /*result*/) {
  auto options = std::make_shared<KeygenOptions>();
  CLI::App* verb = add_verb(
      program, "keygen", "Make a secret key that signs snapshots, and show its public key",
      "  keysieve keygen sign.key\n"
      "  keysieve keygen --show sign.key --json | jq -r .public_key\n"
      "The secret key stays where sets are built (build --sign-key). The public key goes to all hosts, as\n"
      "public_key of the [[set]] in keysieve.toml: keysieved then refuses what is not signed with it.");
  verb->add_option("FILE", options->path, "File of the secret key, for its user alone")->required();
  verb->add_flag("--show", options->show, "Make no key, but show the public key of the one in FILE");
  verb->callback([options] { keygen(*options); });
}

}  // namespace keysieve
