#include "src/base/settings.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "src/base/errors.hpp"
#include "src/base/numbers.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"

namespace convfilt {
namespace {

std::optional<int> number_in(const SettingInfo& info, std::string_view word) {
  const auto number = number_of_word<int>(word);
  return number && *number >= info.lowest && *number <= info.highest ? number : std::nullopt;
}

int number_of(const SettingInfo& info, const std::string& word) {
  const std::size_t x = info.sides ? word.find('x') : word.npos;
  const auto columns = number_in(info, std::string_view(word).substr(0, x));
  const auto rows =
      x == word.npos ? columns : number_in(info, std::string_view(word).substr(x + 1));
  if (!columns || !rows)
    throw UsageError("--" + std::string(info.name) + ": " + in_quotes(word) +
                     " is not a whole number, " + std::to_string(info.lowest) + " to " +
                     std::to_string(info.highest) +
                     (info.sides ? ", or two of them, as 32x8" : ""));
  return info.sides ? TileSides{*columns, *rows}.value() : *columns;
}

}  // namespace

void set_from_word(Tuning& tuning, Setting setting, const std::string& word) {
  const SettingInfo& info = info_of(setting);
  if (info.words.empty()) {
    tuning[setting] = number_of(info, word);
    return;
  }
  const auto found = std::find(info.words.begin(), info.words.end(), word);
  if (found == info.words.end())
    throw UsageError("--" + std::string(info.name) + ": " +
                     unknown_name("value", word, {info.words.begin(), info.words.end()}));
  tuning[setting] = int(found - info.words.begin());
}

}  // namespace convfilt
