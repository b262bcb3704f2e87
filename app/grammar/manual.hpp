/// The manual page and the completions of shells, from the same definitions as --help.
#pragma once

#include <string>
#include <vector>

#include "app/grammar/help.hpp"

namespace convfilt {

/// The manual page in troff's language, for man(1).
std::string manual_page(const std::vector<CommandFacts>& commands);

/// A script that completes commands, options and their values, for "bash", "zsh" or "fish".
std::string completion(const std::string& shell, const std::vector<CommandFacts>& commands);

}  // namespace convfilt
