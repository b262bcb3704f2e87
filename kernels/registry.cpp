#include "kernels/registry.hpp"

#include <array>

#include "kernels/backend/devices.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/cpu/plans.hpp"
#include "kernels/huffman/walk.hpp"
#include "kernels/plan/zero_weights.hpp"

// Each strategy has one line, in the textbook's order. Only `cpu`, which has no .cu file, stands in
// table(). A strategy runs in the emulator and on CUDA. With `.libraries` its CUDA plans are
// compiled only where the toolkit has cuFFT and cuBLAS. With `.loops` its own source also runs on
// the CPU, as plain loops. With `.cpu` it has another plan for the CPU.
#define CONVFILT_STRATEGIES(STRATEGY)                      \
  STRATEGY(basic)                                          \
  STRATEGY(unrolled)                                       \
  STRATEGY(tiled_in)                                       \
  STRATEGY(tiled_out)                                      \
  STRATEGY(cached)                                         \
  STRATEGY(texture)                                        \
  STRATEGY(scatter, .loops = true)                         \
  STRATEGY(im2col, .libraries = true, .loops = true)       \
  STRATEGY(winograd, .loops = true)                        \
  STRATEGY(fft, .libraries = true, .loops = true)          \
  STRATEGY(overlap_save, .libraries = true, .loops = true) \
  STRATEGY(overlap_add, .libraries = true, .loops = true)  \
  STRATEGY(in_parts, .libraries = true, .loops = true)     \
  STRATEGY(coarse, .cpu = prepare_cpu_coarse)              \
  STRATEGY(two_pass)                                       \
  STRATEGY(separable, .cpu = prepare_cpu_separable)        \
  STRATEGY(separable_tensor)                               \
  STRATEGY(tensor)                                         \
  STRATEGY(direct)

namespace convfilt {

#define DECLARE(x, ...)           \
  namespace emulator::x {         \
  extern const Strategy strategy; \
  }                               \
  namespace host::x {             \
  extern const Strategy strategy; \
  }                               \
  namespace cuda::x {             \
  extern const Strategy strategy; \
  }
CONVFILT_STRATEGIES(DECLARE)

// plan/edges.cu and plan/chain.cu, by backend.
namespace emulator {
std::unique_ptr<Plan> make_edge_plan(std::vector<std::unique_ptr<Plan>>, const EdgeAnswers&,
                                     const PlanOptions&);
std::unique_ptr<Plan> make_chain_plan(std::vector<std::unique_ptr<Plan>>, std::vector<StepResult>,
                                      const PlanOptions&);
}  // namespace emulator
namespace cuda {
std::unique_ptr<Plan> make_edge_plan(std::vector<std::unique_ptr<Plan>>, const EdgeAnswers&,
                                     const PlanOptions&);
std::unique_ptr<Plan> make_chain_plan(std::vector<std::unique_ptr<Plan>>, std::vector<StepResult>,
                                      const PlanOptions&);
std::unique_ptr<huffman::ScanWalker> make_walker(const PlanOptions&);
}  // namespace cuda

namespace {

#ifdef CONVFILT_HAS_CUDA
constexpr bool kHasCuda = true;
#else
constexpr bool kHasCuda = false;
#endif
#ifdef CONVFILT_HAS_CUDA_LIBRARIES
constexpr bool kHasCudaLibraries = true;
#else
constexpr bool kHasCudaLibraries = false;
#endif

/// The backends that a strategy is compiled for, beside the emulator.
struct BuiltFor {
  bool libraries = false, loops = false;
  Strategy::Prepare cpu = nullptr;
};

/// Makes every plan of a strategy, by `make` or by the strategy itself, so that none can forget
/// what weights of 0 mean.
template <const Strategy& strategy, Strategy::Prepare make = nullptr>
std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  const Family family = strategy.family_of(options.tuning);
  PlanOptions how = options;
  how.skips_zeros = takes_zero_weights(problem, family);
  return without_zero_weights(problem, family, options.threads, make != nullptr,
                              (make ? make : strategy.make_plan)(problem, how));
}

/// Nor can one forget to ask for the CUDA device that it needs.
template <const Strategy& strategy>
std::unique_ptr<Plan> prepare_cuda(const Problem& problem, const PlanOptions& options) {
  require_capability(strategy.name, strategy.needs, options.device);
  return prepare<strategy>(problem, options);
}

std::unique_ptr<Plan> prepare_direct(const Problem& problem, const PlanOptions& options) {
  return without_zero_weights(problem, Family::direct, options.threads, true,
                              prepare_cpu_direct(problem, options));
}

// A strategy that this build lacks is not linked: a discarded branch only names it.
#define JOIN(x, ...)                                                            \
  [] {                                                                          \
    constexpr BuiltFor built{__VA_ARGS__};                                      \
    Strategy joined = emulator::x::strategy;                                    \
    joined.prepare_emulator = prepare<emulator::x::strategy>;                   \
    if constexpr (built.libraries ? kHasCudaLibraries : kHasCuda)               \
      joined.prepare_cuda = prepare_cuda<cuda::x::strategy>;                    \
    if (built.cpu) /* no constant under UBSan */                                \
      joined.prepare_cpu = prepare<emulator::x::strategy, built.cpu>;           \
    if constexpr (built.loops) joined.prepare_cpu = prepare<host::x::strategy>; \
    return joined;                                                              \
  }(),

const auto& table() {
  static const auto all = std::to_array<Strategy>(
      {CONVFILT_STRATEGIES(JOIN){.name = "cpu",
                                 .summary = "all cores, vectorised; needs no GPU",
                                 .family = Family::direct,
                                 .refuses = direct_refuses,
                                 .prepare_cpu = prepare_direct}});
  return all;
}

}  // namespace

std::unique_ptr<huffman::ScanWalker> huffman::make_walker(int ordinal) {
  if constexpr (kHasCuda) return cuda::make_walker({.device = ordinal});
  throw DeviceError(cuda_devices().missing);
}

std::span<const Strategy* const> strategies() {
  static const auto pointers = [] {
    std::array<const Strategy*, std::tuple_size_v<std::decay_t<decltype(table())>>> list;
    for (std::size_t k = 0; k < list.size(); ++k) list[k] = &table()[k];
    return list;
  }();
  return pointers;
}

const Strategy* find_strategy(std::string_view name) {
  for (const Strategy* strategy : strategies()) {
    if (strategy->name == name) return strategy;
  }
  return nullptr;
}

std::unique_ptr<Plan> make_edge_plan(DeviceKind device,
                                     std::vector<std::unique_ptr<Plan>> responses,
                                     const EdgeAnswers& how, const PlanOptions& options) {
  if (device != DeviceKind::cuda)
    return emulator::make_edge_plan(std::move(responses), how, options);
  if constexpr (kHasCuda)
    return cuda::make_edge_plan(std::move(responses), how, options);
  else
    throw DeviceError(cuda_devices().missing);
}

std::unique_ptr<Plan> make_chain_plan(DeviceKind device, std::vector<std::unique_ptr<Plan>> steps,
                                      std::vector<StepResult> results, const PlanOptions& options) {
  if (device != DeviceKind::cuda)
    return emulator::make_chain_plan(std::move(steps), std::move(results), options);
  if constexpr (kHasCuda)
    return cuda::make_chain_plan(std::move(steps), std::move(results), options);
  else
    throw DeviceError(cuda_devices().missing);
}

}  // namespace convfilt
