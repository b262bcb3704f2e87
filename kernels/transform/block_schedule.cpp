#include "kernels/transform/block_schedule.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/backend/fourier.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/ceil_div.hpp"
#include "kernels/plan/block_counts.hpp"

namespace convfilt::transform {
namespace {

constexpr int kSpatialBlock = 32;
constexpr int kSteps = 2;               // the fewest that keep the blocks of a step apart
constexpr int kInterleaved = 2;         // parts to a block where only the part's side is given
constexpr int kLeastTransform = 16;     // shorter transforms are little but overhead
constexpr int kLargestTransform = 512;  // a block's spectrum is 1 MB: some 50 stay in an L2 cache
constexpr int kLargestPartTransform = 256;  // larger masks get more parts, not larger transforms

/// The block side S >= least_block with the least transform work per output, where S + side - 1 is
/// a power of two up to `largest`. It is 0 when there is none.
int best_block(int side, int least_block, int largest) {
  int best = 0;
  double best_work = 0;
  for (int length = kLeastTransform; length <= largest; length *= 2) {
    const int block = length - side + 1;
    if (block < std::max(1, least_block)) continue;
    const double work = std::pow(double(length) / block, 2) * std::log2(length);
    if (best == 0 || work < best_work) {
      best = block;
      best_work = work;
    }
  }
  return best;
}

/// The block's side, or the number of samples where that is less. Then no transform was chosen.
int clipped(BlockAxis& axis, int outputs) {
  const int samples = outputs + axis.side - 1;
  if (samples < axis.block) axis.longest = 0;
  return std::min(axis.block, samples);
}

/// The launches that keep the blocks of one apart. Blocks under one weight never meet.
int steps_of(const BlockAxis& axis, const Tuning& tuning) {
  if (tuning[Setting::steps]) return tuning[Setting::steps];
  return axis.part == 1 ? 1 : kSteps;
}

/// Lets the launches be what --accumulate says, once block and part are known.
void accumulate(BlockAxis& axis, const Tuning& tuning) {
  if (tuning[Setting::accumulate] != kInSteps) axis.steps = 1;
  if (tuning[Setting::accumulate] == kInDivisions && axis.part > 1)
    axis.divisions = ceil_div(axis.block + axis.part - 1, std::min(axis.block, axis.part));
}

BlockAxis overlap_add_axis(int outputs, int side, const Tuning& tuning) {
  const bool spatial = tuning[Setting::domain] == kSpatial;
  BlockAxis axis;
  axis.side = side;
  axis.part = spatial ? std::min(side, kMaxPartSide) : side;
  axis.steps = steps_of(axis, tuning);
  axis.block = tuning[Setting::block];
  const int least = ceil_div(axis.part - 1, std::max(1, axis.steps - 1));
  if (axis.block == 0 && spatial) axis.block = std::max(kSpatialBlock, least);
  for (int largest = kLargestTransform; axis.block == 0; largest *= 2) {
    axis.block = best_block(side, least, largest);
    axis.longest = largest;
  }
  axis.block = clipped(axis, outputs);
  accumulate(axis, tuning);
  return axis;
}

BlockAxis in_parts_axis(int outputs, int side, const Tuning& tuning) {
  const bool spatial = tuning[Setting::domain] == kSpatial;
  const int part = std::min(tuning[Setting::part], side);
  BlockAxis axis;
  axis.side = side;
  axis.block = tuning[Setting::block];
  if (axis.block == 0 && part > 0)
    axis.block = part * (spatial ? std::max(1, kSpatialBlock / part) : kInterleaved);
  if (axis.block == 0 && spatial) axis.block = kSpatialBlock;
  if (axis.block == 0) {
    axis.block = best_block(side, side, kLargestPartTransform);
    axis.longest = axis.block > 0 ? kLargestPartTransform : 0;
  }
  if (axis.block == 0) axis.block = kLargestPartTransform / 2;
  const int needed = clipped(axis, outputs);
  axis.block = part > 0 ? ceil_div(needed, part) * part : needed;
  axis.part = part > 0 ? part : std::min({axis.block, side, spatial ? kMaxPartSide : side});
  axis.steps = steps_of(axis, tuning);
  accumulate(axis, tuning);
  return axis;
}

template <class Axis>
BlockSchedule both_axes(const Problem& p, const Tuning& tuning, Axis axis) {
  return {axis(p.out_width(), p.mask.width, tuning), axis(p.out_height(), p.mask.height, tuning),
          tuning[Setting::accumulate] == kAtomic};
}

std::string too_many(const Problem& p, const BlockAxis& x, const BlockAxis& y) {
  return blocks_refuse(x.blocks(p.out_width()), y.blocks(p.out_height()));
}

std::string by(int columns, int rows) {
  return std::to_string(columns) + "x" + std::to_string(rows);
}

std::string spatial_refuses(const BlockAxis& x, const BlockAxis& y, const Tuning& tuning) {
  if (tuning[Setting::domain] != kSpatial) return "";
  return cells_refuse(x.block + 2 * (std::min(x.part, kMaxPartSide) - 1), y.block);
}

/// The parts of the spatial domain along an axis, of about equal sides.
int spatial_parts(const BlockAxis& axis) {
  return ceil_div(axis.side, std::min(kMaxPartSide, axis.part));
}

/// The samples of a block in the middle that lie under its d-th division along an axis.
int samples_under(const BlockAxis& axis, int d, int weights) {
  const Interval outputs = axis.division(d, weights);
  if (outputs.count == 0) return 0;
  const int first = std::max(0, outputs.first - (weights - 1));
  return std::min(axis.block, outputs.first + outputs.count) - first;
}

/// The samples of a block in the middle that all launches read along an axis. Each part has
/// launches of its own, and divisions share samples.
int samples_read(const BlockAxis& axis) {
  const int parts = spatial_parts(axis);
  int samples = 0;
  for (int part = 0; part < parts; ++part) {
    const int weights = axis.side * (part + 1) / parts - axis.side * part / parts;
    for (int d = 0; d < axis.divisions; ++d) samples += samples_under(axis, d, weights);
  }
  return samples;
}

/// The most samples that one launch reads of a block along an axis.
int most_samples_read(const BlockAxis& axis, int weights) {
  int most = 0;
  for (int d = 0; d < axis.divisions; ++d) most = std::max(most, samples_under(axis, d, weights));
  return most;
}

}  // namespace

std::string cells_refuse(std::int64_t columns, std::int64_t rows) {
  if (columns * rows <= kMostCells) return "";
  return "shared memory holds " + std::to_string(kMostCells) + " cells of a block, not " +
         std::to_string(columns) + " x " + std::to_string(rows) +
         "; use a smaller --block, or leave it out";
}

BlockSchedule overlap_add_schedule(const Problem& p, const Tuning& tuning) {
  return both_axes(p, tuning, overlap_add_axis);
}

BlockSchedule in_parts_schedule(const Problem& p, const Tuning& tuning) {
  return both_axes(p, tuning, in_parts_axis);
}

std::string overlap_add_refuses(const Problem& p, const Tuning& tuning) {
  const auto [x, y, atomic] = overlap_add_schedule(p, tuning);
  if (const std::string many = too_many(p, x, y); !many.empty()) return many;
  if (const std::string cells = spatial_refuses(x, y, tuning); !cells.empty()) return cells;
  if (tuning[Setting::accumulate] != kInSteps && tuning[Setting::steps] != 0) {
    return std::string(atomic ? "atomic additions take one launch"
                              : "divisions take a launch each, of all blocks") +
           "; leave out --steps, or use --accumulate=steps";
  }
  if (atomic) return "";
  if (x.disjoint() && y.disjoint()) return "";
  const int asked = std::max(x.steps, y.steps);
  std::string reason = std::to_string(asked) + (asked == 1 ? " step" : " steps") +
                       " an axis let blocks of " + by(x.block, y.block) + " meet under a mask of " +
                       by(x.part, y.part) + "; use ";
  const int steps = 1 + std::max(ceil_div(x.part - 1, x.block), ceil_div(y.part - 1, y.block));
  if (steps <= info_of(Setting::steps).highest) reason += "--steps=" + std::to_string(steps);
  if (asked == 1) {
    return steps <= info_of(Setting::steps).highest ? reason : reason + "a larger --block";
  }
  const int block = ceil_div(std::max(x.part, y.part) - 1, asked - 1);
  if (steps <= info_of(Setting::steps).highest) reason += " or ";
  return reason + "--block=" + std::to_string(block);
}

std::string in_parts_refuses(const Problem& p, const Tuning& tuning) {
  const auto [x, y, atomic] = in_parts_schedule(p, tuning);
  const int part = tuning[Setting::part], block = tuning[Setting::block];
  if (part > kMaxPartSide && tuning[Setting::domain] == kSpatial) {
    return "constant memory holds parts of up to " + by(kMaxPartSide, kMaxPartSide) +
           " weights; use --part=" + std::to_string(kMaxPartSide) + " or less";
  }
  if (part > 0 && block % part != 0) {
    return "--part=" + std::to_string(part) + " does not divide --block=" + std::to_string(block) +
           "; use --block=" + std::to_string(ceil_div(block, part) * part) + ", or leave it out";
  }
  if (const std::string cells = spatial_refuses(x, y, tuning); !cells.empty()) return cells;
  return too_many(p, x, y);
}

std::vector<float> framed_parts(const Mask& mask, const BlockSchedule& schedule, int begin,
                                int count, int columns, int rows) {
  const auto& [x, y, atomic] = schedule;
  std::vector<float> frames(std::size_t(columns) * rows * count);
  const double over = mask.divisor * columns * rows;
  for (int n = 0; n < std::min(count, x.parts() * y.parts() - begin); ++n) {
    const int first_i = (begin + n) % x.parts() * x.part;
    const int first_j = (begin + n) / x.parts() * y.part;
    for (int j = 0; j < std::min(y.part, y.side - first_j); ++j) {
      float* row = &frames[(std::size_t(n) * rows + j) * columns];
      for (int i = 0; i < std::min(x.part, x.side - first_i); ++i) {
        row[i] = float(mask.weight(first_i + i, first_j + j) / over);
      }
    }
  }
  return frames;
}

namespace {

/// The weights of the largest part along an axis.
int largest_part(const BlockAxis& axis, bool spatial) {
  return spatial ? ceil_div(axis.side, spatial_parts(axis)) : axis.part;
}

/// The outputs to which all launches add a block in the middle along an axis: each part has
/// launches of its own, or in the frequency domain each sum of parts.
int outputs_added(const BlockAxis& axis, bool spatial) {
  if (!spatial) return std::min(axis.interleaved(), axis.parts()) * (axis.block + axis.part - 1);
  return spatial_parts(axis) * (axis.block - 1) + axis.side;
}

/// What a geometry says of the launches along an axis.
Adding adding_of(const BlockAxis& axis, bool spatial) {
  Adding adding;
  adding.steps = axis.steps;
  for (int d = 0; d < axis.divisions; ++d)
    adding.divisions.push_back(axis.division(d, largest_part(axis, spatial)).count);
  const int parts = spatial ? spatial_parts(axis) : axis.parts();
  for (int m = 0; m < parts; ++m) {
    const int first = spatial ? axis.side * m / parts : m * axis.part;
    const int end = spatial ? axis.side * (m + 1) / parts : std::min(axis.side, first + axis.part);
    adding.parts.push_back(end - first);
  }
  adding.sums = spatial ? 0 : axis.interleaved();
  return adding;
}

/// How many parts of the spatial domain there are, each of which reads every sample, as a formula.
std::string parts_text(const BlockAxis& x, const BlockAxis& y) {
  const auto along = [](const char* side, const BlockAxis& axis) {
    return "ceil(" + std::string(side) + " / " + std::to_string(std::min(kMaxPartSide, axis.part)) +
           ")";
  };
  if (spatial_parts(y) == 1) return along("w", x);
  if (spatial_parts(x) == 1) return along("h", y);
  return along("w", x) + " * " + along("h", y);
}

/// How parts and launches come about, in sentences.
std::string launches_note(const BlockSchedule& s, bool spatial, int parts) {
  const auto& [x, y, atomic] = s;
  const int part_x = largest_part(x, spatial), part_y = largest_part(y, spatial);
  const auto by = [line = y.block == 1 && y.side == 1](int columns, int rows) {
    return line ? std::to_string(columns) : transform::by(columns, rows);
  };
  std::string note;
  if (parts > 1 && spatial)
    note = std::to_string(parts) + " parts of the mask, one after the other, each in ";
  if (parts > 1 && !spatial)
    note = "Spectra of " + by(x.parts(), y.parts()) + " parts of the mask are summed" +
           (x.interleaved() * y.interleaved() > 1
                ? " in " + by(x.interleaved(), y.interleaved()) +
                      " sums, as many as parts go into a block, each added in "
                : " first, and their one sum is added in ");
  if (note.empty()) note = "Blocks are added in ";
  if (atomic)
    return note + "one launch; the outputs that neighbours share are added to atomically.";
  note += by(x.launches(), y.launches()) + " launches. ";
  if (x.divisions * y.divisions > 1)
    return note + "Each takes one division of every block's outputs, up to " +
           by(x.division(0, part_x).count, y.division(0, part_y).count) +
           " of them, so no two blocks write one output." +
           (spatial ? " Threads are counted in the launches that have most samples of a block."
                    : "");
  return note + "Blocks of one launch lie " + by(x.steps * x.block, y.steps * y.block) +
         " apart and write " + by(x.block + part_x - 1, y.block + part_y - 1) +
         " each, so none meet.";
}

/// Why the sides of blocks that are transformed are what they are, where no setting and no small
/// picture is the reason.
std::string side_note(const BlockAxis& x, const BlockAxis& y, const Tuning& tuning) {
  if (x.longest > 0 && y.longest > 0)
    return " Its side, unless set, takes the least work an output among transforms of powers of "
           "two up to " +
           (x.longest == y.longest ? std::to_string(x.longest) : by(x.longest, y.longest)) + ".";
  const bool set = tuning[Setting::block] || tuning[Setting::part];
  if (!set && x.parts() > 1 && y.parts() > 1)
    return " Its side, unless set, is " + std::to_string(kLargestPartTransform / 2) +
           " here, and that of the mask's parts, too.";
  return "";
}

}  // namespace

Geometry geometry_of(const Problem& p, const Tuning& tuning, const BlockSchedule& schedule,
                     Threads block, int total_bytes) {
  const auto& [x, y, atomic] = schedule;
  const bool spatial = tuning[Setting::domain] == kSpatial;
  const int part_x = largest_part(x, spatial), part_y = largest_part(y, spatial);
  const Interval columns = x.division(0, part_x), rows = y.division(0, part_y);
  const Threads threads = spatial ? spatial_threads(block, rows.count) : block;
  Geometry g;
  g.block_columns = threads.columns;
  g.block_rows = threads.rows;
  // Blocks of threads over a frame load all samples at once, whatever is added in a launch.
  g.loading_threads = spatial
                          ? threads.busy(most_samples_read(x, part_x), most_samples_read(y, part_y))
                          : threads.busy(x.block, y.block);
  g.computing_threads = threads.busy(columns.count, rows.count);
  g.in_columns = x.block;
  g.in_rows = y.block;
  g.out_columns = x.block + part_x - 1;
  g.out_rows = y.block + part_y - 1;
  g.lead_x = p.lead_x() - (part_x - 1);  // if negative, the output tile begins further left
  g.lead_y = p.lead_y() - (part_y - 1);
  g.adding_x = adding_of(x, spatial);
  g.adding_y = adding_of(y, spatial);
  g.atomic = atomic;
  g.loads = double(x.block) * y.block;
  g.loads_per_output = "1";
  const double added = double(outputs_added(x, spatial)) * outputs_added(y, spatial);
  (atomic ? g.adds : g.sum_accesses) = atomic ? added : 2 * added;
  g.sum_bytes = spatial ? total_bytes : int(sizeof(float));
  if (spatial) {
    const int across = spatial_parts(x), down = spatial_parts(y), parts = across * down;
    g.shared_bytes = kMostCells * size_of(p.depth);
    g.loads = double(samples_read(x)) * samples_read(y);
    if (x.divisions * y.divisions > 1)
      g.loads_per_output = parts > 1 ? "samples under each division and part, over a block's"
                                     : "samples under each division, over a block's";
    else if (parts > 1)
      g.loads_per_output = parts_text(x, y);
    g.note = launches_note(schedule, true, parts) + " A block's samples are fetched into " +
             by(x.block + 2 * (part_x - 1), y.block) +
             " cells, with zeros on both sides. Its side, unless set: 32, or what the steps need.";
    return g;
  }
  const int parts = x.parts() * y.parts();
  g.note = launches_note(schedule, false, parts) + " A block of the picture takes " +
           by(ceil_div(good_fft_size(g.out_columns), block.columns),
              ceil_div(good_fft_size(g.out_rows), block.rows)) +
           " blocks of threads.";
  g.note += side_note(x, y, tuning);
  return g;
}

namespace {

/// A launch that adds these of a block's outputs, under a part of the mask with these sides. The
/// threads are those of `g`, and the place is that of the part's first output.
Counts launch_counts(const Problem& p, const Geometry& g, const BlockPlace& place, Sides mask,
                     Interval columns, Interval rows) {
  // Cells lie under the launch's outputs. Under the first and the last w - 1 columns the block has
  // no samples, and cells are zeros. Rows without samples have no cells.
  const int first_row = std::max(0, mask.height - 1 - rows.first);
  const int end_row =
      std::min(g.in_rows + mask.height - 1 - rows.first, rows.count + mask.height - 1);
  const int cell_columns = columns.count + mask.width - 1;
  BlockFormula block(p, g, place);
  using Cell = std::optional<BlockCell>;
  for_each_sweep(g, cell_columns, end_row - first_row, [&](auto cell_of) {
    block.read([&](int col, int row) {
      const Cell cell = moved(cell_of, columns.first, rows.first + first_row)(col, row);
      const int sample = cell ? cell->col - (mask.width - 1) : -1;
      return sample >= 0 && sample < g.in_columns ? cell : Cell();
    });
    block.write_shared(cell_columns, cell_of);
  });
  block.barrier();
  for_each_sweep(g, columns.count, rows.count, [&](auto output_of) {
    for_each_tap(mask, [&](int i, int j) {
      const auto tap = [&](int col, int row) {
        const Cell cell = moved(output_of, i, j - first_row)(col, row);
        return cell && cell->row >= 0 && cell->row < end_row - first_row ? cell : Cell();
      };
      block.read_mask(tap);
      block.read_shared(cell_columns, tap);
    });
    const auto output = moved(output_of, columns.first, rows.first);
    g.atomic ? block.add_atomically(output) : block.add(output);
  });
  return block.counts();
}

/// The output where the block begins that the emulator watches of the first launch, under the
/// mask's first weights: the one in the middle.
int middle_of_first_step(const BlockAxis& axis, int outputs, int weights) {
  const Interval first{0, weights};
  const Interval blocks = axis.blocks_of_step(outputs, first, 0);
  return axis.outputs_of(blocks.first + blocks.count / 2 * axis.steps, first).first;
}

}  // namespace

std::optional<Counts> block_counts_of(const Problem& p, const Tuning& tuning,
                                      const BlockSchedule& schedule, Threads block,
                                      const Geometry& geometry, const BlockPlace& place) {
  const auto& [x, y, atomic] = schedule;
  if (tuning[Setting::domain] != kSpatial) return std::nullopt;
  const bool in_parts = spatial_parts(x) * spatial_parts(y) > 1;
  // Each part has launches of its own, so the first launch tells of a part only without divisions.
  if (in_parts && x.divisions * y.divisions > 1) return std::nullopt;
  const Sides part{x.side / spatial_parts(x), y.side / spatial_parts(y)};
  BlockPlace at = place;
  if (in_parts) {
    at.x = middle_of_first_step(x, p.out_width(), part.width);
    at.y = middle_of_first_step(y, p.out_height(), part.height);
  }
  Counts all;
  for (int down = 0; down < y.divisions; ++down) {
    for (int across = 0; across < x.divisions; ++across) {
      const Interval columns = x.division(across, part.width), rows = y.division(down, part.height);
      if (columns.count == 0 || rows.count == 0) continue;
      const Threads threads = spatial_threads(block, rows.count);
      Geometry g = geometry;
      g.block_columns = threads.columns;
      g.block_rows = threads.rows;
      add(all, launch_counts(p, g, at, part, columns, rows));
    }
  }
  return all;
}

}  // namespace convfilt::transform
