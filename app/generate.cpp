#include "app/commands.hpp"
#include "app/grammar/grammar.hpp"
#include "app/grammar/manual.hpp"

namespace convfilt {

void run(const GenerateCommand& command) {
  const std::vector<CommandFacts> commands = command_facts();
  print_result(command.what == "man" ? manual_page(commands) : completion(command.what, commands));
}

}  // namespace convfilt
