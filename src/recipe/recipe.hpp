/// Recipes: filters with their options, one behind the other.
#pragma once

#include <string>
#include <vector>

#include "src/base/words.hpp"
#include "src/filter/filter.hpp"

namespace convfilt {

struct Recipe {
  FilterPtr filter;
  std::string text;                ///< its steps with "|" between them, in one line
  std::string file;                ///< that it was read from; empty = from the command line
  std::vector<std::string> masks;  ///< files or names
};

/// Reads a recipe: a text whose first word is a filter's name, or else the name of a file. Steps
/// are divided by "|" or stand on lines of their own; "#" begins a comment, and quotes hold blanks
/// and "|". `given` are the options of the command, which hold for all steps, and `for_all` the
/// names of all such options, which no step takes.
///
/// Throws UsageError, "file:line:column: what; remedy", for all that is wrong in the recipe;
/// IoError where its file or that of a mask cannot be read.
Recipe read_recipe(const std::string& word, const Values& given, const Words& for_all = {});

/// Where a message names a word, such as an option, and not as a part of a longer one; npos:
/// nowhere.
std::size_t named_at(const std::string& message, const std::string& word);

}  // namespace convfilt
