// keysieve keygen: a secret key that signs snapshots, and its public key.

#include "tools/cli/verb.hpp"
#include "tools/signatures/signing_key.hpp"

namespace keysieve {
namespace {

class KeygenVerb {
 public:
  void declare(CLI::App* verb) {
    verb->add_option("FILE", path_, "File of the secret key, for its user alone")->required();
    verb->add_flag("--show", show_, "Make no key, but show the public key of the one in FILE");
  }

  int run() {
    const SigningKey key = show_ ? SigningKey::load(path_) : SigningKey::create(path_);
    Report report;
    if (!show_) report.add("written", path_ + ", for builders alone", "file", path_);
    report.add("public key", to_hex(key.public_key()), "public_key", to_hex(key.public_key()));
    report.print();
    return 0;
  }

 private:
  std::string path_;
  bool show_ = false;
};

}  // namespace

extern const Verb kKeygen{
    "keygen", "Make a secret key that signs snapshots, and show its public key",
    "  keysieve keygen sign.key\n"
    "  keysieve keygen --show sign.key --json | jq -r .public_key\n"
    "The secret key stays where sets are built (build --sign-key). The public key goes to all hosts, as\n"
    "public_key of the [[set]] in keysieve.toml: keysieved then refuses what is not signed with it.",
    prepare<KeygenVerb>};

}  // namespace keysieve
