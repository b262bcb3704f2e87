#include "src/lab/check/search.hpp"

#include <cstdlib>

#include "kernels/backend/host/parallel.hpp"
#include "src/base/splitmix.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

constexpr int kPatch = 8;                 // pixels a side
constexpr int kMostPatches = 64;          // that are looked at
constexpr int kLeastInside = 1024;        // pixels; a smaller picture is looked at as a whole
constexpr double kMostProducts = 2e9;     // of a pass
constexpr std::size_t kMostKept = 512;    // conventions, with each rounding of theirs
constexpr std::size_t kMostEqual = 64;    // that differ at the edges alone
constexpr std::size_t kMostEndings = 12;  // over the whole picture
constexpr int kChunk = 1024;              // pixels, whose sums stay in the cache
constexpr double kFar = 1e9;  // a sample counts no more, so that infinite ones leave something to tell

struct Found {
  Convention convention;
  double loss = 0;  ///< mean distance

  bool operator<(const Found& other) const {
    return std::pair(loss, convention.order()) < std::pair(other.loss, other.convention.order());
  }
};

/// Keeps the best ones alone.
void keep_best(std::vector<Found>& found, double most_loss, std::size_t most) {
  std::ranges::sort(found, std::less<>());
  std::erase_if(found, [&](const Found& each) { return each.loss > most_loss; });
  if (found.size() > most) found.resize(most);
}

/// Some pixels of a row.
struct Run {
  int y, x0, x1;
};

/// The search for all but the edge, on square patches. Where the picture has room, they lie so far
/// inside that no mask leaves it, however shifted.
class InnerSearch {
 public:
  InnerSearch(const Conventions& all, int threads) : all_(all) {
    const Mask& mask = all.turns[0].mask;
    const int side = std::max(mask.width, mask.height);
    reach_ = std::clamp(side / 2, 2, 16);
    place_patches(side - 1 + reach_);
    for (const Patch& patch : patches_) {
      for (int y = 0; y < height_; ++y) {
        const auto add = [&](const Image& picture, std::vector<double>& to) {
          to.resize(to.size() + row());
          all.samples(picture, patch.y + y, patch.x, patch.x + width_, &*to.end() - row());
        };
        add(all.theirs, theirs_);
        add(all.in, copied_);
      }
    }
    const int edges = edges_end();
    sums_.resize(all.turns.size() * std::size_t(edges) * patches_.size());
    cpu::parallel_for(int(sums_.size()), cpu::threads_or_all(threads), [&](int, int index) {
      const Patch& patch = patches_[std::size_t(index) % patches_.size()];
      Convention convention;
      convention.edge = index / int(patches_.size()) % edges;
      convention.turn = index / int(patches_.size()) / edges;
      std::vector<double>& sums = sums_[std::size_t(index)];
      sums.resize(std::size_t(height_ + 2 * reach_) * wide_row());
      for (int y = 0; y < height_ + 2 * reach_; ++y)
        all.sums(convention, patch.y + y - reach_, patch.x - reach_, patch.x + width_ + reach_,
                 sums.data() + std::size_t(y) * wide_row());
    });
  }

  /// The best ones, equally good on the patches. Their edges are not decided.
  std::vector<Found> best() const {
    std::vector<Found> found;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [dx, dy] : shifts())
      for (int turn = 0; turn < int(all_.turns.size()); ++turn)
        for (int edge = 0; edge < edges_end(); ++edge)
          for (const bool exchanges : {false, true})
            for (int scaling = 0; scaling < int(all_.scalings.size()); ++scaling)
              for (const Range range : all_.ranges) {
                if (exchanges && all_.channels < 3) continue;
                const Convention convention{dx,      dy,    exchanges,      turn,
                                            scaling, range, Rounding::none, edge};
                const double most = std::max(all_.step(convention), 2 * least);
                const double loss = loss_of(convention, most);
                if (loss > most) continue;
                least = std::min(least, loss);
                found.push_back({convention, loss});
              }
    // What is rounded is at most a step off.
    keep_best(found, std::max(all_.step(found[0].convention), 2 * least), kMostKept);
    std::vector<Found> rounded;
    for (Found each : found)
      for (const Rounding rounding : all_.roundings) {
        each.convention.rounding = rounding;
        each.loss = loss_of(each.convention, kFar);
        rounded.push_back(each);
      }
    std::ranges::sort(rounded, std::less<>());
    keep_best(rounded, rounded[0].loss, kMostEqual);
    return rounded;
  }

 private:
  struct Patch {
    int x, y;
  };

  std::size_t row() const { return std::size_t(width_) * all_.channels; }
  std::size_t wide_row() const { return std::size_t(width_ + 2 * reach_) * all_.channels; }
  int edges_end() const { return is_inside_ ? 1 : int(all_.edges.size()); }

  void place_patches(int margin) {
    int x0 = margin, y0 = margin, w = all_.theirs.width() - 2 * margin,
        h = all_.theirs.height() - 2 * margin;
    is_inside_ = w > 0 && h > 0 && double(w) * h >= kLeastInside;
    if (!is_inside_) {
      x0 = y0 = 0;
      w = all_.theirs.width();
      h = all_.theirs.height();
    }
    width_ = std::min(kPatch, w);
    height_ = std::min(kPatch, h);
    const Mask& mask = all_.turns[0].mask;
    const double products = double(mask.weights.size()) * double(all_.turns.size()) * edges_end() *
                            double(wide_row()) * (height_ + 2 * reach_);
    const std::size_t most = std::size_t(std::clamp(kMostProducts / products, 4.0, double(kMostPatches)));
    const int columns = (w + width_ - 1) / width_, rows = (h + height_ - 1) / height_;
    const auto add = [&](int column, int line) {
      patches_.push_back({x0 + std::min(column * width_, w - width_),
                          y0 + std::min(line * height_, h - height_)});
    };
    if (double(columns) * rows <= double(most)) {
      for (int k = 0; k < columns * rows; ++k) add(k % columns, k / columns);
      return;
    }
    // Half of them show much, and half are any.
    SplitMix random(1);
    for (std::size_t k = 0; k < 8 * most; ++k)
      add(random.below(std::uint32_t(columns)), random.below(std::uint32_t(rows)));
    std::vector<std::pair<double, Patch>> rated;
    for (const Patch& patch : patches_) rated.emplace_back(-contrast(patch), patch);
    std::stable_sort(rated.begin() + std::ptrdiff_t(most / 2), rated.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    patches_.clear();
    for (std::size_t k = 0; k < most; ++k) patches_.push_back(rated[k].second);
  }

  double contrast(const Patch& patch) const {
    double sum = 0, squares = 0;
    std::vector<double> samples(row());
    for (int y = 0; y < height_; ++y) {
      all_.samples(all_.theirs, patch.y + y, patch.x, patch.x + width_, samples.data());
      for (const double sample : samples) {
        sum += sample;
        squares += sample * sample;
      }
    }
    const double contrast = squares - sum * sum / double(row() * std::size_t(height_));
    return std::isfinite(contrast) ? contrast : 0;
  }

  /// From the nearest on.
  std::vector<std::pair<int, int>> shifts() const {
    std::vector<std::pair<int, int>> all;
    for (int y = -reach_; y <= reach_; ++y)
      for (int x = -reach_; x <= reach_; ++x) all.emplace_back(x, y);
    std::ranges::stable_sort(all, {}, [](const auto& shift) {
      return std::abs(shift.first) + std::abs(shift.second);
    });
    return all;
  }

  /// The mean distance; something above `most` where it is above that.
  double loss_of(const Convention& convention, double most) const {
    const std::size_t channels = std::size_t(all_.channels), rows = std::size_t(height_);
    const std::size_t first = std::size_t(convention.turn * edges_end() +
                                          (is_inside_ ? 0 : convention.edge)) * patches_.size();
    const double count = double(patches_.size()) * double(rows * row());
    const double turns = convention.range == Range::wrapped && convention.rounding == Rounding::none
                             ? full_range(all_.in.depth()) + 1
                             : std::numeric_limits<double>::infinity();
    double loss = 0;
    for (std::size_t y = 0; y < rows; ++y) {
      for (std::size_t k = 0; k < patches_.size(); ++k) {
        const std::size_t from = (k * rows + y) * row();
        const double* sums =
            sums_[first + k].data() +
            (y + std::size_t(reach_ - convention.shift_y)) * wide_row() +
            std::size_t(reach_ - convention.shift_x) * channels;
        all_.compare(convention, sums, copied_.data() + from, theirs_.data() + from, int(row()),
                     [&](int, double is, double should) {
                       const double off = distance(is, should);
                       loss += std::min({off, std::abs(turns - off), kFar});
                     });
        if (loss > most * count) return 2 * most + loss / count;
      }
    }
    return loss / count;
  }

  const Conventions& all_;
  int reach_ = 2, width_ = 0, height_ = 0;
  bool is_inside_ = true;  ///< so that edges do not matter
  std::vector<Patch> patches_;
  std::vector<double> theirs_, copied_;      ///< of all patches
  std::vector<std::vector<double>> sums_;  ///< of turns, edges and patches, with room for shifts
};

/// Pixels whose mask may leave the picture, or some of them.
std::vector<Run> rim_of(const Conventions& all, const std::vector<Found>& found) {
  const Mask& mask = all.turns[0].mask;
  int reach = 0;
  for (const Found& each : found)
    reach = std::max({reach, std::abs(each.convention.shift_x), std::abs(each.convention.shift_y)});
  reach += std::max(mask.width, mask.height) - 1;
  const int width = all.theirs.width(), height = all.theirs.height();
  std::vector<Run> runs;
  double pixels = 0;
  const auto add = [&](int y, int x0, int x1) {
    for (int x = x0; x < x1; x += kPatch) runs.push_back({y, x, std::min(x1, x + kPatch)});
    pixels += x1 - x0;
  };
  for (int y = 0; y < height; ++y) {
    const int side = y < reach || y >= height - reach || 2 * reach >= width ? width : reach;
    add(y, 0, side);
    if (side < width) add(y, width - side, width);
  }
  const double products = pixels * double(mask.weights.size()) * all.channels *
                          double(all.edges.size());
  const std::uint32_t every = std::uint32_t(std::ceil(products / kMostProducts));
  SplitMix random(2);
  if (every > 1) std::erase_if(runs, [&](const Run&) { return random.below(every) > 0; });
  return runs;
}

/// The same ones with the edges that fit best.
std::vector<Found> with_edges(const Conventions& all, const std::vector<Found>& found, int threads) {
  const std::vector<Run> runs = rim_of(all, found);
  std::vector<Found> edged;
  for (Found each : found) {
    each.loss = 0;
    for (each.convention.edge = 0; each.convention.edge < int(all.edges.size());
         ++each.convention.edge)
      if (std::ranges::none_of(edged, [&](const Found& other) {
            return other.convention == each.convention;
          }))
        edged.push_back(each);
  }
  cpu::parallel_for(int(edged.size()), cpu::threads_or_all(threads), [&](int, int index) {
    // The first of those that share sums computes the losses of all.
    const auto shares = [&](const Found& other) {
      return other.convention.sums_like(edged[std::size_t(index)].convention);
    };
    if (std::ranges::find_if(edged, shares) - edged.begin() != index) return;
    std::vector<Found*> sharing;
    for (Found& each : edged)
      if (shares(each)) sharing.push_back(&each);
    const std::size_t most = std::size_t(kPatch) * all.channels;
    std::vector<double> sums(most), copied(most), theirs(most);
    for (const Run& run : runs) {
      all.sums(sharing[0]->convention, run.y, run.x0, run.x1, sums.data());
      all.samples(all.in, run.y, run.x0, run.x1, copied.data());
      all.samples(all.theirs, run.y, run.x0, run.x1, theirs.data());
      for (Found* each : sharing)
        all.compare(each->convention, sums.data(), copied.data(), theirs.data(),
                    (run.x1 - run.x0) * all.channels, [&](int, double is, double should) {
                      each->loss += std::min(distance(is, should), kFar);
                    });
    }
  });
  std::ranges::sort(edged, std::less<>());
  keep_best(edged, edged[0].loss, kMostEqual);
  return edged;
}

/// Compares the whole picture with conventions that share their sums: for each sample and the kth of
/// them it calls f(k, y, place in the row, theirs, should), on several threads.
template <class F>
void for_all(const Conventions& all, const std::vector<Convention>& of, int threads, F f) {
  const int width = all.theirs.width();
  cpu::parallel_for(all.theirs.height(), cpu::threads_or_all(threads), [&](int, int y) {
    std::vector<double> sums(std::size_t(kChunk) * all.channels), copied(sums.size()),
        theirs(sums.size());
    for (int x0 = 0; x0 < width; x0 += kChunk) {
      const int x1 = std::min(width, x0 + kChunk);
      all.sums(of[0], y, x0, x1, sums.data());
      all.samples(all.in, y, x0, x1, copied.data());
      all.samples(all.theirs, y, x0, x1, theirs.data());
      for (std::size_t k = 0; k < of.size(); ++k)
        all.compare(of[k], sums.data(), copied.data(), theirs.data(), (x1 - x0) * all.channels,
                    [&](int i, double is, double should) {
                      f(k, y, x0 * all.channels + i, is, should);
                    });
    }
  });
}

std::vector<Deviation> deviations(const Conventions& all, const std::vector<Convention>& of,
                                  int threads) {
  std::vector<Deviation> rows(std::size_t(all.theirs.height()) * of.size());
  const bool is_float = all.in.depth() == Depth::f32;
  std::vector<double> steps;
  for (const Convention& each : of) steps.push_back(all.step(each));
  for_all(all, of, threads, [&](std::size_t k, int y, int at, double is, double should) {
    Deviation& row = rows[std::size_t(y) * of.size() + k];
    const double off = distance(is, should);
    ++row.samples;
    row.different += off > (is_float ? steps[k] : 0);
    row.far += off > steps[k] * (is_float ? 10 : 1.001);
    row.mean += off;
    if (off <= row.largest) return;
    row.largest = off;
    row.x = at / all.channels;
    row.y = y;
    row.channel = at % all.channels;
    row.is = is;
    row.should = should;
  });
  std::vector<Deviation> whole(of.size());
  for (std::size_t index = 0; index < rows.size(); ++index) {
    Deviation& sum = whole[index % of.size()];
    const Deviation before = sum, &row = rows[index];
    if (row.largest > sum.largest) sum = row;
    sum.samples = before.samples + row.samples;
    sum.different = before.different + row.different;
    sum.far = before.far + row.far;
    sum.mean = before.mean + row.mean;
  }
  for (Deviation& sum : whole) sum.mean /= double(sum.samples);
  return whole;
}

}  // namespace

Agreement nearest_convention(const Conventions& all, int threads) {
  const std::vector<Found> found = with_edges(all, InnerSearch(all, threads).best(), threads);
  std::vector<Convention> looked_at;
  for (const Found& each : found)
    if (each.convention.sums_like(found[0].convention) && looked_at.size() < kMostEndings)
      looked_at.push_back(each.convention);
  const std::vector<Deviation> off = deviations(all, looked_at, threads);
  std::size_t best = 0;
  for (std::size_t k = 1; k < off.size(); ++k)
    if (off[k].mean < off[best].mean) best = k;
  Agreement agreement{looked_at[best], {}, off[best]};
  for (const Found& each : found) {
    const auto known = std::ranges::find(looked_at, each.convention);
    if (known == looked_at.end() ||
        (std::size_t(known - looked_at.begin()) != best &&
         off[std::size_t(known - looked_at.begin())].mean == off[best].mean))
      agreement.equal.push_back(each.convention);
  }
  return agreement;
}

Image difference_picture(const Conventions& all, const Convention& convention, double gain,
                         int threads) {
  Image picture(all.theirs.width(), all.theirs.height(), all.channels, Depth::u8);
  for_all(all, {convention}, threads, [&](std::size_t, int y, int at, double is, double should) {
    row_of<std::uint8_t>(picture.view(), y)[at] =
        to_sample<std::uint8_t>(std::min(gain * distance(is, should), 255.0));
  });
  return picture;
}

}  // namespace convfilt
