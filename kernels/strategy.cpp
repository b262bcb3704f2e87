#include "kernels/strategy.hpp"

#include <algorithm>
#include <stdexcept>

namespace convfilt {
namespace {

constexpr std::string_view kHaloWords[] = {"sweeps", "regions", "two-step"};
constexpr std::string_view kIdleWords[] = {"last", "rim"};
constexpr std::string_view kMaskMemoryWords[] = {"constant", "global"};
constexpr std::string_view kCacheWords[] = {"all", "none"};
constexpr std::string_view kTextureWords[] = {"linear", "array"};
constexpr std::string_view kGemmWords[] = {"library", "strassen"};
constexpr std::string_view kDomainWords[] = {"frequency", "spatial"};
constexpr std::string_view kAccumulateWords[] = {"auto", "steps", "atomic", "divisions"};

// These stand in the order of the enum.
constexpr SettingInfo kInfos[] = {
    {"halo", "how the halo is loaded", kHaloWords},
    {"tile",
     "side of the output tile, or columns x rows such as 32x8. Up to 32, or up to 1024 for masks "
     "of one row, whose blocks have one row; tiled-in takes at most 1024 threads, those of the "
     "halo included; winograd takes 2 or 4",
     {},
     1,
     1024,
     true},
    {"outputs", "outputs per thread, 1 or 4", {}, 1, 4},
    {"idle", "threads that only load: the last columns and rows, or those around the tile",
     kIdleWords},
    {"mask-memory", "where the mask lies", kMaskMemoryWords},
    {"cache", "caches that samples are read through: all, or only L2", kCacheWords},
    {"texture", "memory under the texture: pitched rows or a CUDA array", kTextureWords},
    {"gemm", "how matrices are multiplied", kGemmWords},
    {"domain", "where blocks are convolved", kDomainWords},
    {"accumulate",
     "how overlapping outputs are added. auto: in-parts in divisions, each with a private buffer; "
     "overlap-add in steps",
     kAccumulateWords},
    {"block", "side of a block of the picture (L2 of in-parts)", {}, 1, 8192},
    {"part", "side of a part of the mask (L1), which divides --block", {}, 1, 1025},
    {"steps",
     "launches along each axis, so that no two blocks of one launch add to the same output",
     {},
     1,
     64},
};
static_assert(std::size(kInfos) == std::size(kSettings), "one line for each setting");

std::string number_text(const SettingInfo& info, int value) {
  const TileSides sides = TileSides::of(value);
  if (!info.sides || value < 0 || sides.columns == sides.rows) return std::to_string(value);
  return std::to_string(sides.columns) + "x" + std::to_string(sides.rows);
}

bool in_range(const SettingInfo& info, int value) {
  if (info.sides && value > 0) {
    const TileSides sides = TileSides::of(value);
    return std::min(sides.columns, sides.rows) >= info.lowest &&
           std::max(sides.columns, sides.rows) <= info.highest;
  }
  return value == 0 || (value >= info.lowest && value <= info.highest);
}

auto prepare_on(const Strategy& strategy, DeviceKind kind) {
  return kind == DeviceKind::cpu        ? strategy.prepare_cpu
         : kind == DeviceKind::emulator ? strategy.prepare_emulator
                                        : strategy.prepare_cuda;
}

}  // namespace

void add(Counts& total, const Counts& counts, std::uint64_t times) {
  for (const auto count :
       {&Counts::global_reads, &Counts::texture_fetches, &Counts::shared_reads, &Counts::barriers,
        &Counts::ghost_cells, &Counts::blocks, &Counts::atomic_adds, &Counts::shared_writes,
        &Counts::global_writes, &Counts::mask_reads, &Counts::sum_adds})
    total.*count += times * counts.*count;
  for (const auto count :
       {&WarpCounts::warps, &WarpCounts::divergent_warps, &WarpCounts::sectors,
        &WarpCounts::fewest_sectors, &WarpCounts::bursts, &WarpCounts::bank_conflicts,
        &WarpCounts::diverge_loading, &WarpCounts::diverge_computing})
    total.warps.*count += times * counts.warps.*count;
}

const SettingInfo& info_of(Setting setting) {
  return kInfos[std::size_t(setting)];
}

std::string to_string(const Tuning& tuning) {
  std::string text;
  for (Setting setting : kSettings) {
    const int value = tuning[setting];
    if (value == 0) continue;
    const SettingInfo& info = info_of(setting);
    text += (text.empty() ? "" : ", ") + std::string(info.name) + "=" +
            (info.words.empty() ? number_text(info, value)
                                : std::string(info.words[std::size_t(value)]));
  }
  return text;
}

std::string_view name_of(DeviceKind kind) {
  constexpr std::string_view kNames[] = {"cpu", "emulator", "cuda"};
  return kNames[int(kind)];
}

std::string_view name_of(Family family) {
  constexpr std::string_view kNames[] = {"direct", "separable", "reordered", "transform"};
  return kNames[int(family)];
}

std::string_view bound_of(Family family) {
  if (family == Family::direct || family == Family::reordered)
    return "0.52 step u8 to 15x15, 0.55 u16 to 31x31, 1e-6 f32 to 101x101";
  return "1 step, 1e-5 f32";
}

std::string bound_of(Family family, std::span<const Depth> depths) {
  std::string taken, rest(bound_of(family));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    const std::string piece = rest.substr(0, end);
    rest.erase(0, std::min(end + 2, rest.size()));
    // A piece without a depth's name is for all depths that no other piece names.
    const bool refused = std::ranges::any_of(kDepths, [&](Depth depth) {
      return piece.find(name_of(depth)) != piece.npos &&
             std::ranges::find(depths, depth) == depths.end();
    });
    if (!refused) taken += (taken.empty() ? "" : ", ") + piece;
  }
  return taken;
}

bool Strategy::runs_on(DeviceKind kind) const {
  return prepare_on(*this, kind) != nullptr;
}

bool Strategy::has(Setting setting) const {
  return std::find(settings.begin(), settings.end(), setting) != settings.end();
}

Family Strategy::family_of(const Tuning& tuning) const {
  return has(Setting::domain) && tuning[Setting::domain] == kSpatial ? spatial_family : family;
}

std::string Strategy::refusal(const Problem& problem, const Tuning& tuning) const {
  for (Setting setting : kSettings) {
    if (tuning[setting] == 0 || has(setting)) continue;
    std::string own;
    for (Setting s : settings) own += (own.empty() ? "--" : ", --") + std::string(info_of(s).name);
    return "it has no setting --" + std::string(info_of(setting).name) +
           (own.empty() ? "; leave it out" : ", only " + own);
  }
  for (Setting setting : settings) {
    const SettingInfo& info = info_of(setting);
    const int value = tuning[setting], words = int(info.words.size());
    if (words ? value >= 0 && value < words : in_range(info, value)) continue;
    return "--" + std::string(info.name) + " is " + number_text(info, value) + "; it must be " +
           (words ? "one of its words"
                  : std::to_string(info.lowest) + ".." + std::to_string(info.highest));
  }
  if (const std::string reason = mode_refuses(problem); !reason.empty()) return reason;
  return refuses(problem, tuning);
}

std::string Needs::refusal_of(const CudaDevice& device) const {
  if (device.major >= major) return "";
  return "CUDA device " + std::to_string(device.ordinal) + " (" + device.name + ", sm_" +
         std::to_string(device.major) + std::to_string(device.minor) + ") is older than sm_" +
         std::to_string(major) + "0";
}

std::unique_ptr<Plan> Strategy::prepare(const Problem& problem, DeviceKind kind,
                                        const PlanOptions& options) const {
  const auto prepare = prepare_on(*this, kind);
  if (!prepare) {
    throw std::invalid_argument(std::string(name) + " does not run on " +
                                std::string(name_of(kind)));
  }
  if (const std::string reason = refusal(problem, options.tuning); !reason.empty()) {
    throw std::invalid_argument(std::string(name) + " refuses " + to_string(problem) + ": " +
                                reason);
  }
  return prepare(problem, options);
}

}  // namespace convfilt
