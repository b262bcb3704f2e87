/// Settings of strategies: where the literature knows several ways to do one thing.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace convfilt {

enum class Setting { halo, tile, gemm, domain, accumulate, block, steps };

inline constexpr Setting kSettings[] = {Setting::halo,   Setting::tile,       Setting::gemm,
                                        Setting::domain, Setting::accumulate, Setting::block,
                                        Setting::steps};

// The words of a setting, in the order of these numbers; the first is what a strategy does unasked.
enum Halo { kSweeps, kRegions, kTwoStep };
enum Gemm { kLibrary, kStrassen };
enum Domain { kFrequency, kSpatial };
enum Accumulate { kInSteps, kAtomic };

/// What a setting is called and takes.
struct SettingInfo {
  std::string_view name;                    ///< as in --name
  std::string_view summary;                 ///< for help
  std::span<const std::string_view> words;  ///< empty: a whole number, lowest..highest
  int lowest = 0, highest = 0;
};

const SettingInfo& info_of(Setting setting);

/// A value for every setting. 0 is the first word, and for numbers: by the strategy's own rule.
class Tuning {
 public:
  int operator[](Setting setting) const { return values_[std::size_t(setting)]; }
  int& operator[](Setting setting) { return values_[std::size_t(setting)]; }
  bool operator==(const Tuning&) const = default;

 private:
  std::array<int, std::size(kSettings)> values_{};
};

/// What differs from the default, e.g. "halo=regions, tile=16"; empty when nothing does.
std::string to_string(const Tuning& tuning);

}  // namespace convfilt
