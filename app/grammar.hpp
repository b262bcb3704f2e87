/// The grammar of the command line: from argv to plain structs. The command-line library's words
/// appear only in grammar.cpp.
#pragma once

#include <vector>

#include "app/manual.hpp"
#include "app/options.hpp"

namespace convfilt {

/// Understands the command line; reads no file and asks no device. Throws UsageError.
Command parse(int argc, const char* const* argv);

/// All commands as help shows them, for the manual and for completion.
std::vector<CommandFacts> command_facts();

}  // namespace convfilt
