#include "app/commands.hpp"
#include "app/grammar/commands.hpp"

namespace convfilt {
namespace {

struct GenerateCommand : Command {
  std::string what;

  void run() override {
    print_result(what == "man" ? manual_page(command_facts()) : completion(what, command_facts()));
  }
};

void declare(Binder& binder, GenerateCommand& command) {
  const Words all = {"man", "bash", "zsh", "fish"};
  binder.positional("WHAT", command.what, "man, bash, zsh or fish", true, all);
  binder.then([&command, all] { require_choice("thing to generate", command.what, all); });
}

}  // namespace

const OtherCommand kGenerate{
    {"generate", "The manual page, or completions for a shell",
     "Print the manual page, or a script by which a shell completes options and their\n"
     "values. Installing convfilt installs these, too.\n",
     "  convfilt generate man >convfilt.1\n"
     "  convfilt generate bash >~/.local/share/bash-completion/completions/convfilt\n"
     "  convfilt generate fish >~/.config/fish/completions/convfilt.fish\n"},
    declare_as<GenerateCommand>};

}  // namespace convfilt
