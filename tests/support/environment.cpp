#include "tests/support/environment.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "kernels/backend/devices.hpp"

namespace convfilt::test {
namespace {

constexpr DeviceKind kKinds[] = {DeviceKind::cpu, DeviceKind::emulator, DeviceKind::cuda};

struct Tally {
  long runs = 0, refusals = 0;
};

struct Environment {
  bool full = false, least = false;
  std::size_t chosen = 0, all_cases = 0;
  std::vector<Runner> runners;
  std::map<DeviceKind, std::string> skipped;                    // with the reason
  std::map<std::string_view, std::string> too_old;              // strategies for the CUDA device
  std::map<std::pair<DeviceKind, std::string>, Tally> tallies;  // by to_string(Runner, no device)
};

Environment& environment() {
  static Environment instance;
  return instance;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

std::string name_of(const Runner& runner) {
  const std::string tuning = to_string(runner.tuning);
  return std::string(runner.strategy->name) + (tuning.empty() ? "" : " (" + tuning + ")");
}

/// Numbers small enough for small masks' blocks, and one output a thread. Those of steps and blocks
/// are no powers of two.
int sample_number(Setting setting) {
  switch (setting) {
    case Setting::tile: return 4;
    case Setting::outputs: return 1;
    case Setting::part: return 24;
    case Setting::steps: return 3;
    default: return 40;
  }
}

/// All combinations of words, and each number by itself.
std::vector<Tuning> tunings_of(const Strategy& strategy) {
  std::vector<Tuning> tunings(1);
  for (Setting setting : strategy.settings) {
    const int words = int(info_of(setting).words.size());
    for (std::size_t k = tunings.size(); k-- > 0;) {
      for (int word = 1; word < words; ++word) {
        Tuning other = tunings[k];
        other[setting] = word;
        tunings.push_back(other);
      }
    }
  }
  for (std::size_t k = 0, words = tunings.size(); k < words; ++k) {
    for (Setting setting : strategy.settings) {
      if (!info_of(setting).words.empty()) continue;
      Tuning other = tunings[k];
      other[setting] = sample_number(setting);
      tunings.push_back(other);
    }
  }
  return tunings;
}

bool any_strategy_on(DeviceKind kind) {
  return std::ranges::any_of(strategies(), [&](const Strategy* s) { return s->runs_on(kind); });
}

/// Why a device cannot be tested; empty when it can.
std::string missing(DeviceKind kind) {
  if (kind == DeviceKind::cuda) {
    if (const std::string why = cuda_missing(); !why.empty()) return why;
  }
  return any_strategy_on(kind) ? "" : "no strategy of this build runs on it";
}

}  // namespace

bool full_size() {
  return environment().full;
}

void thin_out(std::vector<std::size_t>& chosen) {
  constexpr std::size_t kOneOf = 4;
  if (!environment().least) return;
  for (std::size_t k = 0; k < chosen.size(); k += kOneOf) chosen[k / kOneOf] = chosen[k];
  chosen.resize((chosen.size() + kOneOf - 1) / kOneOf);
}

const std::vector<Runner>& runners() {
  return environment().runners;
}

std::vector<Runner> runners_of(std::string_view strategy) {
  std::vector<Runner> found;
  for (const Runner& runner : runners())
    if (runner.strategy->name == strategy && runner.device != DeviceKind::cpu)
      found.push_back(runner);
  if (found.empty())
    throw std::runtime_error("no device tested runs " + std::string(strategy) +
                             "; name others in CONVFILT_TEST_DEVICES");
  return found;
}

std::string cuda_missing() {
  const CudaDevices& cuda = cuda_devices();
  return cuda.devices.empty() ? cuda.missing : "";
}

bool emulator_missing() {
  const bool missing = std::ranges::none_of(
      runners(), [](const Runner& r) { return r.device == DeviceKind::emulator; });
  if (missing) MESSAGE("skipped: the emulator is not tested");
  return missing;
}

std::string to_string(const Runner& runner) {
  return name_of(runner) + " on " + std::string(name_of(runner.device));
}

bool Runner::has_number() const {
  return std::ranges::any_of(kSettings, [&](Setting setting) {
    return info_of(setting).words.empty() && tuning[setting] != 0;
  });
}

bool Runner::bytes_are_defined(Depth depth) const {
  return family() == Family::direct || family() == Family::separable ||
         (family() == Family::reordered && depth == Depth::u8);
}

void read_environment() {
  Environment& e = environment();
  const std::string size = variable("CONVFILT_TEST_SIZE");
  if (size != "" && size != "short" && size != "full" && size != "least") {
    throw std::runtime_error("CONVFILT_TEST_SIZE is '" + size +
                             "'; it must be least, short or full");
  }
  e.full = size == "full";
  e.least = size == "least";

  const std::vector<std::string> named = split(variable("CONVFILT_TEST_DEVICES"));
  for (const std::string& name : named) {
    if (std::ranges::none_of(kKinds, [&](DeviceKind kind) { return name_of(kind) == name; })) {
      throw std::runtime_error("CONVFILT_TEST_DEVICES names '" + name +
                               "'; the devices are cpu, emulator and cuda");
    }
  }
  for (DeviceKind kind : kKinds) {
    const bool wanted = std::ranges::find(named, name_of(kind)) != named.end();
    if (!named.empty() && !wanted) {
      e.skipped[kind] = "not named in CONVFILT_TEST_DEVICES";
      continue;
    }
    if (const std::string why = missing(kind); !why.empty()) {
      if (wanted) {
        throw std::runtime_error("CONVFILT_TEST_DEVICES names " + std::string(name_of(kind)) +
                                 ", which is missing: " + why);
      }
      e.skipped[kind] = why;
      continue;
    }
    for (const Strategy* strategy : strategies()) {
      if (!strategy->runs_on(kind)) continue;
      if (kind == DeviceKind::cuda) {
        const std::string why = strategy->refusal_of(cuda_devices().devices.front());
        if (!why.empty()) {
          e.too_old[strategy->name] = why;
          continue;
        }
      }
      for (const Tuning& tuning : tunings_of(*strategy))
        e.runners.push_back({strategy, kind, tuning});
    }
  }
}

void count_chosen(std::size_t chosen, std::size_t all) {
  environment().chosen += chosen;
  environment().all_cases += all;
}

void count_run(const Runner& runner) {
  ++environment().tallies[{runner.device, name_of(runner)}].runs;
}

void count_refusal(const Runner& runner) {
  ++environment().tallies[{runner.device, name_of(runner)}].refusals;
}

void print_coverage(std::ostream& out) {
  const Environment& e = environment();
  Tally total;
  for (DeviceKind kind : kKinds) {
    if (const auto skip = e.skipped.find(kind); skip != e.skipped.end()) {
      out << "device " << name_of(kind) << " skipped: " << skip->second << '\n';
      continue;
    }
    out << "device " << name_of(kind) << " tested:";
    for (const auto& [key, tally] : e.tallies) {
      if (key.first != kind) continue;
      out << "  " << key.second << ' ' << tally.runs;
      if (tally.refusals) out << '-' << tally.refusals;
      total.runs += tally.runs;
      total.refusals += tally.refusals;
    }
    out << '\n';
  }
  for (const auto& [name, why] : e.too_old) out << name << " on cuda skipped: " << why << '\n';
  out << "(strategy, device, case): " << total.runs << " runs, " << total.refusals
      << " expected refusals (runs-refusals above); size "
      << (e.full    ? "full"
          : e.least ? "least"
                    : "short");
  if (e.all_cases) out << ": " << e.chosen << " of " << e.all_cases << " cases";
  out << '\n';
}

}  // namespace convfilt::test
