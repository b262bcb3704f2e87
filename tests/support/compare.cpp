#include "tests/support/compare.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "tests/support/oracle.hpp"
#include "tests/support/refusals.hpp"

namespace convfilt::test {
namespace {

constexpr double kSlack = 1e-9;  // the oracle's own rounding

// Cases up to this many taps are run twice, which also shows that a plan can be run again; in a
// short run, a quarter of them.
constexpr double kCheapTaps = 50000;

bool runs_twice(const Case& c, double taps) {
  return taps <= kCheapTaps && (full_size() || (c.seed * 0x9e3779b97f4a7c15u >> 40) % 4 == 0);
}

/// The first sample that a runner got wrong.
struct Finding {
  Place place;
  double is = 0;
  std::string should_be;
};

/// What is known about a case before any strategy runs.
struct Truth {
  std::vector<double> real;
  std::optional<std::vector<std::uint8_t>> exact;
  double largest = 0;  ///< |sample|, infinite where the picture has samples that are not finite
};

double largest_sample(const Problem& p, const Picture& in) {
  double largest = p.border == Border::constant ? std::abs(p.border_value) : 0;
  for (int y = 0; y < p.height; ++y) {
    for (int x = 0; x < p.width; ++x) {
      for (int c = 0; c < p.channels; ++c) {
        const double sample = std::abs(in.get(x, y, c));
        if (!std::isfinite(sample)) return std::numeric_limits<double>::infinity();
        largest = std::max(largest, sample);
      }
    }
  }
  return largest;
}

double saturated(double value, Depth depth) {
  return depth == Depth::f32 ? value : std::clamp(value, 0.0, full_range(depth));
}

/// Fills the output with what is wrong everywhere: half the range away from the truth, or a NaN
/// that no arithmetic ends with. So a sample that is not written is found wrong.
void poison(Picture& out, const Truth& truth, int round) {
  std::size_t k = 0;
  for (int y = 0; y < out.height(); ++y) {
    for (int x = 0; x < out.width(); ++x) {
      for (int c = 0; c < out.channels(); ++c, ++k) {
        if (out.depth() == Depth::f32) {
          const std::uint32_t bits = round == 0 ? 0x7fa5a5a5u : 0xffa5a5a5u;
          std::memcpy(out.view().row(y) + (std::size_t(x) * out.channels() + c) * 4, &bits, 4);
        } else {
          const double range = full_range(out.depth());
          const bool dark = saturated(truth.real[k], out.depth()) < range / 2;
          out.set(x, y, c, dark ? range - round : round);
        }
      }
    }
  }
}

std::optional<Finding> compare(const Problem& p, const Picture& out, const Truth& truth,
                               Family family) {
  const double allowed = allowed_error(p, family, truth.largest);
  const bool exact = truth.exact && must_be_exact(p, family);
  std::size_t k = 0;
  for (int y = 0; y < p.out_height(); ++y) {
    for (int x = 0; x < p.out_width(); ++x) {
      for (int c = 0; c < p.channels; ++c, ++k) {
        const double is = out.get(x, y, c), real = truth.real[k];
        // Samples are many, and a stream is made for the first that is wrong.
        const auto wrong = [&](auto... should_be) {
          std::ostringstream text;
          text.precision(9);
          (text << ... << should_be);
          return Finding{{x, y, c}, is, text.str()};
        };
        if (exact) {
          if (is != (*truth.exact)[k]) return wrong("exactly ", int((*truth.exact)[k]));
        } else if (!std::isfinite(truth.largest)) {
          // In a picture with NaN or infinities, only the presence of NaN is compared, and only in
          // the direct family: another order of operations may give others.
          if (family == Family::direct && std::isnan(is) != std::isnan(real)) return wrong(real);
        } else {
          const double wanted = saturated(real, p.depth);
          if (!(std::abs(is - wanted) <= allowed + kSlack * (1 + std::abs(real))))
            return wrong(wanted, " +- ", allowed);
        }
      }
    }
  }
  return std::nullopt;
}

void fail(const Case& c, const Runner& runner, const std::string& what) {
  FAIL_CHECK(to_string(c) << "\n  " << to_string(runner) << ": " << what);
}

std::string describe(const Finding& f) {
  std::ostringstream text;
  text.precision(9);
  text << "sample (" << f.place.x << ", " << f.place.y << ") channel " << f.place.c << " is "
       << f.is << ", should be " << f.should_be;
  return text.str();
}

PlanOptions options_of(const Runner& runner, PlanOptions options = {}) {
  options.tuning = runner.tuning;
  return options;
}

bool check_refusal(const Case& c, const Runner& runner) {
  const Problem& p = c.problem;
  const std::string refusal = runner.strategy->refusal(p, runner.tuning);
  if (const std::string wrong = wrong_answer(p, runner, refusal); !wrong.empty())
    fail(c, runner, wrong);
  if (refusal.empty()) return false;
  count_refusal(runner);
  try {
    runner.strategy->prepare(p, runner.device, options_of(runner));
    fail(c, runner, "prepare() takes a problem that must be refused");
  } catch (const std::invalid_argument&) {
  }
  return true;
}

/// In the emulator, a strategy of kernels/transform/ launches whole blocks of threads some five
/// times a run, however small the picture. So it runs every fourth of the smallest there, and all
/// on the CPU.
bool skipped(const Case& c, const Runner& runner) {
  return runner.device == DeviceKind::emulator && runner.strategy->family == Family::transform &&
         c.problem.width * c.problem.height <= 25 && c.seed % 4 != 0;
}

/// The runner's output; nothing when it has already been found wrong.
std::optional<Picture> checked_output(const Case& c, const Runner& runner, const Picture& in,
                                      const Truth& truth) {
  const Problem& p = c.problem;
  const double taps = double(in.samples()) * p.mask.width * p.mask.height;
  Picture out = Picture::result_of(p, c.out_gap, c.lead);
  std::unique_ptr<Plan> plan;
  try {
    plan = runner.strategy->prepare(p, runner.device, options_of(runner));
    count_run(runner);
    for (int round = 0; round < (runs_twice(c, taps) ? 2 : 1); ++round) {
      poison(out, truth, round);
      const Timing timing = plan->run(in.view(), out.view());
      if (timing.bands < 1) fail(c, runner, "Timing::bands is below 1");
      if (!out.canaries_intact()) {
        fail(c, runner, "wrote between or before the rows");
        return std::nullopt;
      }
      if (const auto finding = compare(p, out, truth, runner.family())) {
        fail(c, runner, (round ? "second run: " : "") + describe(*finding));
        return std::nullopt;
      }
    }
  } catch (const std::exception& error) {
    fail(c, runner, std::string("threw: ") + error.what());
    return std::nullopt;
  }
  return out;
}

}  // namespace

Picture run(const Runner& runner, const Problem& problem, const Picture& in,
            const PlanOptions& options, Timing* timing) {
  Picture out = Picture::result_of(problem);
  count_run(runner);
  const Timing taken = runner.strategy->prepare(problem, runner.device, options_of(runner, options))
                           ->run(in.view(), out.view());
  if (timing) *timing = taken;
  return out;
}

double furthest_from(const Picture& one, const Picture& other, const Problem& p) {
  double furthest = 0;
  for (int y = 0; y < p.height; ++y) {
    for (int x = 0; x < p.width; ++x) {
      for (int c = 0; c < p.channels; ++c)
        furthest = std::max(furthest, std::abs(one.get(x, y, c) - other.get(x, y, c)));
    }
  }
  return furthest;
}

void check_case(const Case& c) {
  const Problem& p = c.problem;
  Picture in = Picture::of(p, c.in_gap, c.lead);
  in.fill(c.fill, c.seed);
  const Picture untouched = in;
  if (!mode_refuses(p).empty()) {
    for (const Runner& runner : runners()) check_refusal(c, runner);
    return;
  }
  if (p.depth == Depth::u8) {
    if (const std::string wrong = wrong_claim(p.mask); !wrong.empty())
      FAIL_CHECK(to_string(c) << "\n  " << wrong);
  }
  const Truth truth{convolve(p, in), convolve_exactly(p, in), largest_sample(p, in)};

  struct Reference {
    Runner runner;
    Picture out;
  };
  std::map<Family, Reference> references;  // what the first runner of each family gave
  // Large pictures ask how far indices reach, which settings do not change.
  const bool large = in.samples() > 50000;
  for (const Runner& runner : runners()) {
    if (large && runner.tuning != Tuning{}) continue;
    if (check_refusal(c, runner) || skipped(c, runner)) continue;
    if (runner.has_number() && !is_sampled(c)) continue;
    const auto out = checked_output(c, runner, in, truth);
    if (!same_samples(in, untouched)) {
      fail(c, runner, "changed its input");
      in = untouched;
    }
    if (!out || !runner.bytes_are_defined(p.depth)) continue;
    const Family family = runner.family() == Family::reordered ? Family::direct : runner.family();
    const auto [reference, is_first] = references.try_emplace(family, Reference{runner, *out});
    if (is_first || same_samples(*out, reference->second.out)) continue;
    const Place at = first_difference(*out, reference->second.out);
    std::ostringstream other;
    other.precision(9);
    other << reference->second.out.get(at.x, at.y, at.c) << ", the same bytes as "
          << to_string(reference->second.runner);
    fail(c, runner, describe({at, out->get(at.x, at.y, at.c), other.str()}));
  }
}

}  // namespace convfilt::test
