#include "src/lab/explain/architectures.hpp"

#include <algorithm>

#include "src/base/errors.hpp"
#include "src/base/suggest.hpp"

namespace convfilt {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr int kWarp = 32;
constexpr int kMaxBlockThreads = 1024;

// The system takes 1 KiB of each block's shared memory from compute capability 8.0 on.
constexpr Architecture kArchitectures[] = {
    {"sm_75", "T4, RTX 2080", 1024, 16, 64 * kKiB, 0, 256},
    {"sm_80", "A100", 2048, 32, 164 * kKiB, kKiB, 128},
    {"sm_86", "A10, RTX 3090", 1536, 16, 100 * kKiB, kKiB, 128},
    {"sm_87", "Jetson Orin", 1536, 16, 164 * kKiB, kKiB, 128},
    {"sm_89", "L4, RTX 4090", 1536, 24, 100 * kKiB, kKiB, 128},
    {"sm_90", "H100, H200", 2048, 32, 228 * kKiB, kKiB, 128},
    {"sm_100", "B200", 2048, 32, 228 * kKiB, kKiB, 128},
    {"sm_103", "B300", 2048, 32, 228 * kKiB, kKiB, 128},
    {"sm_120", "RTX 5090", 1536, 24, 100 * kKiB, kKiB, 128},
};

std::size_t rounded_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::span<const Architecture> architectures() {
  return kArchitectures;
}

const Architecture& find_architecture(const std::string& name) {
  std::vector<std::string> names;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return architecture;
    names.emplace_back(architecture.name);
  }
  throw UsageError(unknown_name("architecture", name, names));
}

Occupancy occupancy(const Architecture& sm, int threads, std::size_t shared_bytes) {
  if (threads < 1 || threads > kMaxBlockThreads) return {0, 0, {"threads"}};
  const std::size_t block_threads = rounded_up(std::size_t(threads), kWarp);  // whole warps
  const std::size_t block_shared =
      shared_bytes == 0 ? 0 : rounded_up(shared_bytes + sm.reserved, sm.shared_unit);
  struct Limit {
    std::string_view name;
    std::size_t blocks;
  };
  std::vector<Limit> limits = {
      {threads % kWarp ? "warps" : "threads", std::size_t(sm.threads) / block_threads},
      {"blocks", std::size_t(sm.blocks)}};
  if (block_shared > 0) limits.push_back({"shared memory", sm.shared_bytes / block_shared});

  const std::size_t most = std::ranges::min(limits, {}, &Limit::blocks).blocks;
  Occupancy result{int(most), int(most) * threads, {}};
  for (const Limit& limit : limits) {
    if (limit.blocks == most) result.limited_by.push_back(limit.name);
  }
  return result;
}

}  // namespace convfilt
