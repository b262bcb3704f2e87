#include "src/recipe/recipe.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/filter/chain.hpp"
#include "src/recipe/table.hpp"

namespace convfilt {
namespace {

constexpr std::size_t kMostSteps = 64;
constexpr std::string_view kBetweenWords = " \t";
constexpr const char* kExample = "write one a line, or with | between, e.g. blur | edge --thin";

/// A word of a line.
struct WordPlace {
  std::string word;        ///< without quotes
  std::string_view where;  ///< in the text
  bool is_bar = false;
};
using WordPlaces = std::vector<WordPlace>;

[[noreturn]] void fail(const SourceText& source, std::string_view where,
                       const std::string& message) {
  throw UsageError(source.pointing_at(where, message));
}

WordPlaces words_in(std::string_view line, const SourceText& source) {
  WordPlaces words;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(kBetweenWords), line.size()));
    if (line.empty() || line[0] == '#') return words;
    if (line[0] == '|') {
      words.push_back({"|", line.substr(0, 1), true});
      line.remove_prefix(1);
      continue;
    }
    WordPlace place{"", line};
    char quote = 0;
    std::size_t end = 0;
    for (; end < line.size(); ++end) {
      const char letter = line[end];
      if (quote ? letter == quote : letter == '"' || letter == '\'')
        quote = quote ? 0 : letter;
      else if (!quote && (letter == '|' || kBetweenWords.find(letter) != kBetweenWords.npos))
        break;
      else
        place.word += letter;
    }
    if (quote) fail(source, place.where, std::string("a ") + quote + " is not closed; add another");
    place.where = line.substr(0, end);
    line.remove_prefix(end);
    words.push_back(std::move(place));
  }
}

/// The steps of a text.
std::vector<WordPlaces> steps_in(const SourceText& source) {
  std::vector<WordPlaces> steps;
  for (std::string_view rest = source.text(); !rest.empty();) {
    const std::string_view line = SourceText::take_line(rest);
    const WordPlaces words = words_in(line, source);
    if (words.empty()) continue;
    steps.emplace_back();
    for (const WordPlace& place : words) {
      if (!place.is_bar) {
        steps.back().push_back(place);
        continue;
      }
      if (steps.back().empty())
        fail(source, place.where, "there is no step before this |; leave it out");
      steps.emplace_back();
    }
    if (steps.back().empty())
      fail(source, words.back().where, "there is no step behind this |; leave it out");
    if (steps.size() > kMostSteps)
      fail(source, words[0].where,
           "a recipe has at most " + std::to_string(kMostSteps) +
               " steps; write the rest as a second recipe for the result");
  }
  if (steps.empty())
    fail(source, source.text().substr(0, 0), std::string("there are no steps; ") + kExample);
  return steps;
}

FilterPtr filter_of(const WordPlaces& step, const Values& given, const Words& for_all,
                    Recipe& recipe) {
  Words names;
  for (const FilterLine& each : filters())
    if (!each.is_chain()) names.emplace_back(each.help.name);
  require_choice("filter", step[0].word, names);
  const FilterLine& line = *find_filter(step[0].word);
  Words words;
  for (auto place = step.begin() + 1; place != step.end(); ++place) {
    words.push_back(place->word);
    const std::string option = place->word.substr(0, place->word.find('='));
    require(line.has(option) || std::ranges::count(for_all, option) == 0,
            option + ": it is for all steps; give it to run, outside the recipe");
  }
  FilterValues values;
  FilterPtr filter = line.make_of(words, given, &values);
  for (const FilterOption& option : line.options)
    if (option.is_argument()) recipe.masks.push_back(values.word(option.name));
  return filter;
}

/// The word of a step that a message names first; the step's first where it names none.
std::string_view place_of(const std::string& message, const WordPlaces& step) {
  std::size_t least = message.npos;
  std::string_view where = step.front().where;
  for (const WordPlace& place : step) {
    const std::size_t at = named_at(message, place.word.substr(0, place.word.find('=')));
    if (at >= least) continue;
    least = at;
    where = place.where;
  }
  return where;
}

}  // namespace

std::size_t named_at(const std::string& message, const std::string& word) {
  const auto belongs = [&](std::size_t at) {
    return at < message.size() && (std::isalnum(static_cast<unsigned char>(message[at])) ||
                                   message[at] == '-' || message[at] == '_');
  };
  std::size_t at = message.find(word);
  while (at != message.npos && (belongs(at - 1) || belongs(at + word.size())))
    at = message.find(word, at + 1);
  return at;
}

Recipe read_recipe(const std::string& word, const Values& given, const Words& for_all) {
  const std::size_t first = word.find_first_not_of(" \t\n");
  const std::string_view name = std::string_view(word).substr(
      std::min(first, word.size()), word.find_first_of(" \t\n|", first) - first);
  std::error_code ignored;
  const bool is_text = find_filter(name) || (word.find_first_of(" |\n") != word.npos &&
                                             !std::filesystem::exists(word, ignored));
  if (!is_text && !std::filesystem::exists(word, ignored))
    throw UsageError(in_quotes(word) +
                     " is neither a file nor a filter; write a recipe's name, or its steps, e.g. "
                     "'blur | edge --thin'");
  const std::string text = is_text ? word : read_text(word, "recipe");
  const SourceText source(text, is_text ? "recipe" : word);
  Recipe recipe;
  if (!is_text) recipe.file = word;
  std::vector<FilterPtr> filters;
  for (const WordPlaces& step : steps_in(source)) {
    try {
      filters.push_back(filter_of(step, given, for_all, recipe));
    } catch (const UsageError& error) {
      fail(source, place_of(error.what(), step), error.what());
    }
    recipe.text += recipe.text.empty() ? "" : " | ";
    for (const WordPlace& place : step)
      recipe.text += (&place == step.data() ? "" : " ") + std::string(place.where);
  }
  recipe.filter = chain(std::move(filters));
  return recipe;
}

}  // namespace convfilt
