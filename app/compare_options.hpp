/// The command line of compare.
#pragma once

#include "app/checks.hpp"
#include "app/options.hpp"

namespace convfilt {

class Grammar;

void declare(Grammar& grammar, CompareCommand& command);

/// Reads the command's words, and checks all that can be checked without reading a picture.
void check(CompareCommand& command, const Raw& raw);

}  // namespace convfilt
