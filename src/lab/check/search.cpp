#include <algorithm>
#include <limits>

#include "kernels/backend/host/parallel.hpp"
#include "src/base/splitmix.hpp"
#include "src/lab/check/check.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

/// Pixels x0 to x1 - 1 of a row.
struct Run {
  int y, x0, x1;
};

constexpr int kRun = 8;                // pixels, where only some runs are looked at
constexpr int kWholeRun = 1024;        // pixels, where all are; their sums stay in the cache
constexpr double kLeastInside = 1024;  // pixels; in smaller pictures the edges come with the rest
constexpr double kMostProducts = 1e9;  // of a sample
constexpr std::size_t kMostEqual = 64, kMostEndings = 12;
constexpr double kInfinite = 1e9;  // so far off a sample counts at most in a mean

/// Infinite where only one of both is a number.
double distance(double is, double should) {
  const double off = std::abs(is - should);
  if (!std::isnan(off)) return off;
  const bool alike = is == should || (std::isnan(is) && std::isnan(should));
  return alike ? 0 : std::numeric_limits<double>::infinity();
}

std::vector<double> samples_of(const Image& image, const Run& run) {
  const std::ptrdiff_t first = std::ptrdiff_t(run.x0) * image.channels(),
                       last = std::ptrdiff_t(run.x1) * image.channels();
  // In mode full a result is larger than the picture.
  std::vector<double> samples(std::size_t(last - first));
  if (run.y >= image.height() || run.x1 > image.width()) return samples;
  with_depth(image.depth(), [&]<class T>(TypeTag<T>) {
    const T* row = row_of<T>(image.view(), run.y);
    std::copy(row + first, row + last, samples.begin());
  });
  return samples;
}

/// The result that a convention makes of a weighted sum. `copied` is the picture's sample there.
double finished(const Conventions& all, const Convention& convention, double sum, double copied) {
  const Scaling& scaling = all.scalings[std::size_t(convention.scaling)];
  const Edge::Rule rule = all.edges[std::size_t(convention.edge)].rule;
  if (rule == Edge::Rule::zero || rule == Edge::Rule::copied)
    if (std::isnan(sum)) return rule == Edge::Rule::zero ? 0 : copied;
  const double most = full_range(all.in.depth()), middle = all.is_float() ? 0.5 : (most + 1) / 2;
  const Range range = convention.range;
  double value = sum / scaling.divisor + scaling.offset;
  if (range == Range::absolute) value = std::abs(value);
  if (range == Range::raised) value += middle;
  if (range == Range::centred) value = middle + value / 2;
  switch (convention.rounding) {
    case Rounding::none: break;
    case Rounding::half_even: value = std::nearbyint(value); break;
    case Rounding::half_up: value = std::floor(value + 0.5); break;
    case Rounding::half_away: value = std::round(value); break;
    case Rounding::toward_0: value = std::trunc(value); break;
    case Rounding::down: value = std::floor(value); break;
  }
  if (range == Range::kept) return value;
  if (range == Range::wrapped) return value - std::floor(value / (most + 1)) * (most + 1);
  return std::clamp(value, 0.0, most);
}

bool share_sums(const Convention& a, const Convention& b) {
  return std::tie(a.turn, a.edge, a.shift_x, a.shift_y) ==
         std::tie(b.turn, b.edge, b.shift_x, b.shift_y);
}

bool share_end(const Convention& a, const Convention& b) {
  return std::tie(a.exchanges, a.scaling, a.range, a.rounding) ==
         std::tie(b.exchanges, b.scaling, b.range, b.rounding);
}

/// Calls f(k, place in the row, theirs, should) for the samples of a run and each convention from
/// `first` to `last` - 1, which share their sums.
template <class F>
void compare_run(const Conventions& all, const std::vector<Convention>& of, std::size_t first,
                 std::size_t last, const Run& run, F f) {
  const std::vector<double> copied = samples_of(all.in, run), theirs = samples_of(all.theirs, run);
  std::vector<double> sums(theirs.size());
  all.sums(of[first], run.y, run.x0, run.x1, sums.data());
  const int channels = all.in.channels();
  for (std::size_t k = first; k < last; ++k) {
    const Convention convention = of[k];
    for (std::size_t i = 0, c = 0; i < sums.size();
         ++i, c = c + 1 == std::size_t(channels) ? 0 : c + 1) {
      const std::size_t at = convention.exchanges && c != 1 ? i + 2 - 2 * c : i;
      f(k, run.x0 * channels + int(at), theirs[at], finished(all, convention, sums[i], copied[i]));
    }
  }
}

void add(const Conventions& all, const Convention& convention, int y, int place, double is,
         double should, double step, Deviation& to) {
  ++to.samples;
  if (is == should) return;
  double off = distance(is, should);
  const double values = full_range(all.in.depth()) + 1;
  if (convention.range == Range::wrapped && convention.rounding == Rounding::none)
    off = std::min(off, std::abs(values - off));  // before rounding 255.9 is near 0
  to.different += off > (all.is_float() ? step : 0);
  to.far += off > step * (all.is_float() ? 10 : 1.001);
  to.mean += std::min(off, kInfinite);
  if (off <= to.largest) return;
  const int channels = all.in.channels();
  to = {to.samples, to.different,     to.far, off,   to.mean, place / channels,
        y,          place % channels, is,     should};
}

/// Those that share their sums stand together.
std::vector<Deviation> deviations(const Conventions& all, const std::vector<Convention>& of,
                                  const std::vector<Run>& runs) {
  std::vector<std::size_t> groups;
  for (std::size_t k = 0; k < of.size(); ++k)
    if (k == 0 || !share_sums(of[k - 1], of[k])) groups.push_back(k);
  groups.push_back(of.size());
  // Few conventions are compared on all threads by parts of the runs.
  const std::size_t blocks = std::clamp<std::size_t>(1024 / of.size(), 1, runs.size());
  std::vector<Deviation> parts(blocks * of.size());
  std::vector<double> steps;
  for (const Convention& each : of) steps.push_back(all.step(each));
  const int tasks = int((groups.size() - 1) * blocks);
  cpu::parallel_for(tasks, cpu::threads_or_all(0), [&](int, int task) {
    const std::size_t group = std::size_t(task) / blocks, block = std::size_t(task) % blocks;
    for (std::size_t r = block * runs.size() / blocks; r < (block + 1) * runs.size() / blocks; ++r)
      compare_run(all, of, groups[group], groups[group + 1], runs[r],
                  [&](std::size_t k, int place, double is, double should) {
                    add(all, of[k], runs[r].y, place, is, should, steps[k],
                        parts[block * of.size() + k]);
                  });
  });
  std::vector<Deviation> sums(of.size());
  for (std::size_t index = 0; index < parts.size(); ++index) {
    const Deviation sum = sums[index % of.size()], &part = parts[index];
    Deviation& both = sums[index % of.size()];
    if (part.largest > sum.largest) both = part;
    both.samples = sum.samples + part.samples;
    both.different = sum.different + part.different;
    both.far = sum.far + part.far;
    both.mean = sum.mean + part.mean;
  }
  for (Deviation& sum : sums) sum.mean /= double(sum.samples);
  return sums;
}

/// Makes of each the conventions that have the numbers from `first` to `last` there.
template <class T>
void vary(std::vector<Convention>& of, T Convention::*field, int first, int last) {
  std::vector<Convention> varied;
  for (Convention each : of)
    for (int k = first; k <= last; ++k) {
      each.*field = T(k);
      varied.push_back(each);
    }
  of = std::move(varied);
}

/// Those whose mean is the best, at most so many; `roughly`: those that may be the best once they
/// are rounded, too.
std::vector<Convention> best_of(const Conventions& all, std::vector<Convention> of,
                                const std::vector<Run>& runs, bool roughly, std::size_t most) {
  std::ranges::sort(of, {}, [](const Convention& c) { return c.order(); });
  of.erase(std::unique(of.begin(), of.end()), of.end());
  const std::vector<Deviation> off = deviations(all, of, runs);
  std::vector<std::pair<double, std::size_t>> rated;
  for (std::size_t k = 0; k < of.size(); ++k) rated.emplace_back(off[k].mean, k);
  std::ranges::sort(rated);
  const double least = rated[0].first,
               limit = roughly ? 2 * least + all.step(of[rated[0].second]) : least;
  std::vector<Convention> best;
  for (const auto& [mean, k] : rated)
    if (best.size() < most && mean <= limit) best.push_back(of[k]);
  return best;
}

/// Runs for a sample: half of them show much, and half are any.
std::vector<Run> sample(const Conventions& all, int margin, double count) {
  const int width = all.theirs.width() - 2 * margin, height = all.theirs.height() - 2 * margin;
  SplitMix random(1);
  std::vector<std::pair<double, Run>> rated;
  for (double k = 0; k < 8 * count; ++k) {
    const int x = margin + random.below(std::uint32_t(std::max(1, width - kRun + 1)));
    const Run run{margin + random.below(std::uint32_t(height)), x,
                  std::min(x + kRun, margin + width)};
    const std::vector<double> samples = samples_of(all.theirs, run);
    const auto [least, most] = std::ranges::minmax(samples);
    rated.emplace_back(k < count / 2 || std::isnan(most - least) ? 0 : least - most, run);
  }
  const auto middle = rated.begin() + std::ptrdiff_t(count / 2);
  std::stable_sort(middle, rated.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Run> runs;
  for (std::size_t k = 0; k < std::size_t(count); ++k) runs.push_back(rated[k].second);
  return runs;
}

/// The pixels that are so near to an edge, as far as there is time.
std::vector<Run> rim(const Conventions& all, int margin, double most_pixels) {
  const int width = all.theirs.width(), height = all.theirs.height();
  std::vector<Run> runs;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; x += kRun)
      if (x < margin || x + kRun > width - margin || y < margin || y >= height - margin)
        runs.push_back({y, x, std::min(width, x + kRun)});
  const auto every = std::uint32_t(std::ceil(double(runs.size()) * kRun / most_pixels));
  SplitMix random(2);
  if (every > 1) std::erase_if(runs, [&](const Run&) { return random.below(every) > 0; });
  return runs;
}

std::vector<Run> whole(const Conventions& all) {
  std::vector<Run> runs;
  for (int y = 0; y < all.theirs.height(); ++y)
    for (int x = 0; x < all.theirs.width(); x += kWholeRun)
      runs.push_back({y, x, std::min(all.theirs.width(), x + kWholeRun)});
  return runs;
}

}  // namespace

Agreement nearest_convention(const Conventions& all) {
  const Mask& mask = all.turns[0].mask;
  const double taps = double(mask.weights.size()) * all.in.channels();
  const int side = std::max(mask.width, mask.height);
  const int reach =
      std::clamp(std::min(side / 2, int(std::sqrt(kMostProducts / (8 * kRun * 8 * taps)))), 2, 16);
  const int margin = side - 1 + reach, last_edge = int(all.edges.size()) - 1;
  const double inside =
      double(all.theirs.width() - 2 * margin) * (all.theirs.height() - 2 * margin);
  const bool has_inside =
      all.theirs.width() > 2 * margin && all.theirs.height() > 2 * margin && inside >= kLeastInside;
  // All but the edge, where the picture has an inside: first without rounding, by which a result is
  // at most a step off.
  std::vector<Convention> tried = {{}};
  vary(tried, &Convention::shift_x, -reach, reach);
  vary(tried, &Convention::shift_y, -reach, reach);
  vary(tried, &Convention::turn, 0, int(all.turns.size()) - 1);
  if (!has_inside) vary(tried, &Convention::edge, 0, last_edge);
  const double most_runs = kMostProducts / (double(tried.size()) * taps * kRun);
  vary(tried, &Convention::exchanges, 0, all.in.channels() < 3 ? 0 : 1);
  vary(tried, &Convention::scaling, 0, int(all.scalings.size()) - 1);
  vary(tried, &Convention::range, int(Range::kept), int(Range::centred));
  std::erase_if(tried, [&](const Convention& c) {
    return c.range == (all.is_float() ? Range::wrapped : Range::kept);
  });
  const int inner = has_inside ? margin : 0;
  tried = best_of(all, tried, sample(all, inner, std::clamp(most_runs, 8.0, 16.0)), true, 512);
  tried = best_of(all, tried, sample(all, inner, 32), true, 128);
  if (!all.is_float()) vary(tried, &Convention::rounding, 1, int(Rounding::down));
  tried = best_of(all, tried, sample(all, inner, 256), false, kMostEqual);
  // Then the edge.
  vary(tried, &Convention::edge, 0, last_edge);
  const double most_pixels = kMostProducts / (taps * double(all.edges.size()));
  tried = best_of(all, tried, rim(all, margin, most_pixels), false, kMostEqual);
  // Then the whole picture, where some endings may differ after all.
  std::vector<Convention> last;
  for (const Convention& each : tried)
    if (share_sums(each, tried[0]) && last.size() < kMostEndings) last.push_back(each);
  const std::vector<Deviation> off = deviations(all, last, whole(all));
  std::size_t best = 0;
  for (std::size_t k = 0; k < off.size(); ++k)
    if (off[k].mean < off[best].mean) best = k;
  Agreement agreement{last[best], {}, off[best]};
  for (const Convention& each : tried) {
    const std::size_t k = std::size_t(std::ranges::find(last, each) - last.begin());
    const bool is_alike =
        k == last.size() ? share_end(each, last[best]) : k != best && off[k].mean == off[best].mean;
    if (is_alike) agreement.equal.push_back(each);
  }
  return agreement;
}

Image difference_picture(const Conventions& all, const Convention& convention, double gain) {
  Image picture(all.theirs.width(), all.theirs.height(), all.in.channels(), Depth::u8);
  const std::vector<Run> runs = whole(all);
  cpu::parallel_for(int(runs.size()), cpu::threads_or_all(0), [&](int, int index) {
    const Run& run = runs[std::size_t(index)];
    std::uint8_t* const row = row_of<std::uint8_t>(picture.view(), run.y);
    compare_run(
        all, {convention}, 0, 1, run, [&](std::size_t, int place, double is, double should) {
          row[place] = to_sample<std::uint8_t>(std::min(gain * distance(is, should), 255.0));
        });
  });
  return picture;
}

}  // namespace convfilt
