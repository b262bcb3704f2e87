/// What this run of the tests covers: how much, on which devices, and what came of it.
///
///   CONVFILT_TEST_SIZE       short, the default: cases chosen by pairs (pairs.hpp); full: every
///                            combination; or least: every fourth of the short ones, for tools
///                            under which a kernel takes some hundred times as long
///   CONVFILT_TEST_DEVICES    of cpu,emulator,cuda; by default all that are present; one that is
///                            named must be present
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "kernels/strategy.hpp"

namespace convfilt::test {

/// Whether every combination is tested, not only cases chosen by pairs.
bool full_size();

/// Leaves what this run takes of a short run's cases: of `least` every fourth.
void thin_out(std::vector<std::size_t>& chosen);

/// Counts cases that were chosen, and how many a full run has.
void count_chosen(std::size_t chosen, std::size_t all);

/// A strategy as it is tuned, and a device that it runs on.
struct Runner {
  const Strategy* strategy = nullptr;
  DeviceKind device = DeviceKind::cpu;
  Tuning tuning{};

  Family family() const { return strategy->family_of(tuning); }

  /// Whether a number is set, which a problem may not allow.
  bool has_number() const;

  /// Whether its family promises the same bytes from all its runners at this depth.
  bool bytes_are_defined(Depth depth) const;
};

std::string to_string(const Runner& runner);

/// Every strategy of the registry, in all its settings' words and some of their numbers, on every
/// device tested; device cpu first.
const std::vector<Runner>& runners();

/// Those of one strategy, but not on the CPU, whose bytes are the standard. Throws
/// std::runtime_error where there are none, so that no test passes because it ran nothing.
std::vector<Runner> runners_of(std::string_view strategy);

/// Why no CUDA device can be used; empty when one can.
std::string cuda_missing();

/// Whether the emulator is not tested, which it says.
bool emulator_missing();

/// Reads the environment. Throws std::runtime_error when it names what is unknown or missing.
void read_environment();

void count_run(const Runner& runner);
void count_refusal(const Runner& runner);

/// The devices tested, those skipped with the reason, how many runs and refusals there were, and
/// how many cases were chosen.
void print_coverage(std::ostream& out);

}  // namespace convfilt::test
