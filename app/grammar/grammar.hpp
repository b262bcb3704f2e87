/// The grammar of the command line: from argv to a command. The command-line library's words
/// appear only in this folder.
#pragma once

#include <string_view>
#include <vector>

#include "app/grammar/commands.hpp"
#include "app/grammar/defaults.hpp"
#include "app/grammar/help.hpp"

namespace convfilt {

/// Understands the command line, and what the environment and a file of defaults add to it; reads
/// no other file and asks no device. `defaults` becomes what they add, also where it throws. Throws
/// UsageError; IoError where the file cannot be read.
Command parse(int argc, const char* const* argv, std::vector<Default>& defaults);

/// All commands as help shows them, for the manual and for completion.
std::vector<CommandFacts> command_facts();

/// Whether this build lacks the command, as one without the lab does.
bool is_left_out(std::string_view command);

}  // namespace convfilt
