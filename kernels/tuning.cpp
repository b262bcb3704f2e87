#include "tuning.hpp"

namespace convfilt {
namespace {

constexpr std::string_view kHaloWords[] = {"sweeps", "regions", "two-step"};
constexpr std::string_view kGemmWords[] = {"library", "strassen"};
constexpr std::string_view kDomainWords[] = {"frequency", "spatial"};
constexpr std::string_view kAccumulateWords[] = {"steps", "atomic"};

// In the order of the enum.
constexpr SettingInfo kInfos[] = {
    {"halo", "How the halo is loaded", kHaloWords},
    {"tile", "Side of the output tile (winograd: 2 or 4)", {}, 1, 32},
    {"gemm", "How matrices are multiplied", kGemmWords},
    {"domain", "Where blocks are convolved", kDomainWords},
    {"accumulate", "How overlapping outputs are added", kAccumulateWords},
    {"block", "Side of a block of the picture", {}, 1, 8192},
    {"steps",
     "Launches along each axis, so that no two blocks\nof one add to the same output",
     {},
     1,
     64},
};
static_assert(std::size(kInfos) == std::size(kSettings), "one line for each setting");

}  // namespace

const SettingInfo& info_of(Setting setting) {
  return kInfos[std::size_t(setting)];
}

std::string to_string(const Tuning& tuning) {
  std::string text;
  for (Setting setting : kSettings) {
    const int value = tuning[setting];
    if (value == 0) continue;
    const SettingInfo& info = info_of(setting);
    text +=
        (text.empty() ? "" : ", ") + std::string(info.name) + "=" +
        (info.words.empty() ? std::to_string(value) : std::string(info.words[std::size_t(value)]));
  }
  return text;
}

}  // namespace convfilt
