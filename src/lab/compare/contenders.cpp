#include "src/lab/compare/contenders.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/contract/dispatch.hpp"
#include "src/base/errors.hpp"
#include "src/base/numbers.hpp"
#include "src/base/source_text.hpp"
#include "src/base/splitmix.hpp"
#include "src/base/suggest.hpp"
#include "src/base/words.hpp"
#include "src/mask/file.hpp"
#include "src/mask/make.hpp"

namespace convfilt {
namespace {

/// Takes what comes before the next `separator` from the front of `rest`.
std::string_view take_word(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

void apply_setting(Contender& contender, std::string_view text) {
  const std::string of = " of " + std::string(contender.strategy->name);
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  std::vector<std::string> own;
  for (const Setting setting : contender.strategy->settings) {
    const SettingInfo& info = info_of(setting);
    own.emplace_back(info.name);
    if (info.name != name) continue;
    if (equals == text.npos)
      throw UsageError("--strategies: the setting " + in_quotes(name) + of +
                       " needs a value: " + own.back() + "=VALUE");
    return set_from_word(contender.tuning, setting, std::string(text.substr(equals + 1)));
  }
  if (own.empty())
    throw UsageError("--strategies: strategy " + in_quotes(contender.strategy->name) +
                     " has no settings; leave out " + in_quotes(":" + std::string(text)));
  throw UsageError("--strategies: " + unknown_name("setting" + of, name, own));
}

Contender parse_contender(std::string_view text, const Machine& machine) {
  std::string_view rest = text;
  const std::string_view name = take_word(rest, ':');
  if (name.empty()) throw UsageError("--strategies: a name is missing beside a comma; write a,b,c");
  Contender contender;
  if (name == "auto") {
    if (!rest.empty())
      throw UsageError("--strategies: 'auto' has no settings; leave out " +
                       in_quotes(":" + std::string(rest)));
    return contender;
  }
  contender.strategy = machine.find(name);
  if (!contender.strategy && name.find('=') != name.npos)
    throw UsageError("--strategies: " + in_quotes(name) +
                     " stands where a strategy should; join a strategy's settings with ':', as in "
                     "tiled-out:tile=16:halo=two-step");
  if (!contender.strategy)
    throw UsageError("--strategies: " + unknown_name("strategy", name, strategy_names(machine)));
  if (rest.empty()) return contender;
  while (!rest.empty()) apply_setting(contender, take_word(rest, ':'));
  if (const std::string reason = never_takes(*contender.strategy, contender.tuning);
      !reason.empty())
    throw UsageError("--strategies: " + in_quotes(text) + ": " + reason);
  return contender;
}

}  // namespace

std::string name_of(const Contender& contender) {
  if (!contender.strategy) return "auto";
  std::string name(contender.strategy->name), settings = to_string(contender.tuning);
  if (settings.empty()) return name;
  for (std::size_t at; (at = settings.find(", ")) != settings.npos;) settings.replace(at, 2, ":");
  return name + ":" + settings;
}

std::vector<Contender> parse_contenders(std::string_view list, const Machine& machine) {
  std::vector<Contender> contenders;
  // A comma at the end is a fault, too: no name follows it.
  for (bool more = true; more;) {
    more = list.find(',') != list.npos;
    const Contender contender = parse_contender(take_word(list, ','), machine);
    if (std::ranges::count(contenders, contender) == 0) contenders.push_back(contender);
  }
  return contenders;
}

std::vector<Contender> all_contenders(const Machine& machine) {
  std::vector<Contender> contenders;
  for (const Strategy* strategy : machine.strategies) {
    contenders.push_back({strategy, {}});
    for (const Tuning& tuning : strategy->also_compared) contenders.push_back({strategy, tuning});
  }
  return contenders;
}

Mask mask_named(const std::string& word) {
  const std::optional<Extent> sides = parse_sides(word);
  if (!sides) return load_mask(word);
  for (const std::int64_t side : {sides->width, sides->height})
    if (side < 1 || side > kMaxMaskSide)
      throw UsageError("--mask: " + in_quotes(word) + " is impossible; give sides of 1 to " +
                       std::to_string(kMaxMaskSide));
  return gaussian_mask_of(int(sides->width), int(sides->height));
}

Image noise_picture(int width, int height, int channels, Depth depth) {
  Image image(width, height, channels, depth);
  SplitMix random(1);
  with_depth(depth, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int y = 0; y < height; ++y) {
      T* row = reinterpret_cast<T*>(image.view().row(y));
      for (std::ptrdiff_t x = 0; x < std::ptrdiff_t(width) * channels; ++x) {
        if constexpr (std::is_same_v<T, float>) {
          row[x] = float(random.next() >> 40) * 0x1p-24f;
        } else {
          row[x] = T(random.next() >> 48);
        }
      }
    }
  });
  return image;
}

}  // namespace convfilt
