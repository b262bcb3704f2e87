#include "kernels/transform/block_schedule.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/backend/fourier.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/ceil_div.hpp"
#include "kernels/plan/block_counts.hpp"

namespace convfilt::transform {
namespace {

constexpr int kBatchSamples = 1 << 22;  // 16 MB, which fit in an L2 cache with their spectra
constexpr int kSpatialBlock = 32;
constexpr int kMostBuffers = 4096;
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

/// An axis whose blocks have ghost cells only where these are something else than zeros.
BlockAxis axis_of(const Problem& p, int side, const Tuning& tuning) {
  BlockAxis axis;
  axis.side = axis.held = side;
  axis.block = tuning[Setting::block];
  axis.bare = zeros_outside(p);
  return axis;
}

/// The block's side, or the number of samples where that is less. Then no transform was chosen.
int clipped(BlockAxis& axis, int samples) {
  if (samples < axis.block) axis.longest = 0;
  return std::min(axis.block, samples);
}

BlockAxis overlap_add_axis(const Problem& p, int picture, int outputs, int side,
                           const Tuning& tuning) {
  const bool spatial = tuning[Setting::domain] == kSpatial;
  BlockAxis axis = axis_of(p, side, tuning);
  axis.part = side;
  if (spatial) axis.held = std::min(side, kMaxPartSide);
  // Blocks under one weight never meet. A private buffer has all pieces of a mask.
  const int meeting = tuning[Setting::accumulate] == kInDivisions ? side : axis.held;
  axis.steps = tuning[Setting::steps] ? tuning[Setting::steps] : meeting == 1 ? 1 : kSteps;
  // A block of 32 then takes more divisions, since shared memory holds no larger one.
  if (spatial && meeting > axis.held && axis.block == 0 && tuning[Setting::steps] == 0)
    axis.steps = std::max(kSteps, 1 + ceil_div(meeting - 1, kSpatialBlock));
  const int least = ceil_div(meeting - 1, std::max(1, axis.steps - 1));
  if (axis.block == 0 && spatial) axis.block = std::max(kSpatialBlock, least);
  for (int largest = kLargestTransform; axis.block == 0; largest *= 2) {
    axis.block = best_block(side, least, largest);
    axis.longest = largest;
  }
  axis.apart = axis.block = clipped(axis, std::max(least, axis.samples(outputs, picture)));
  if (tuning[Setting::accumulate] == kAtomic) axis.steps = 1;
  return axis;
}

BlockAxis in_parts_axis(const Problem& p, int picture, int outputs, int side,
                        const Tuning& tuning) {
  const bool spatial = tuning[Setting::domain] == kSpatial;
  const int part = tuning[Setting::part];
  BlockAxis axis = axis_of(p, side, tuning);
  if (axis.block == 0 && part > 0) axis.block = kInterleaved * part;
  if (axis.block == 0 && spatial) axis.block = side > kMaxPartSide ? kMaxPartSide : kSpatialBlock;
  if (axis.block == 0) {
    axis.block = best_block(side, side, kLargestPartTransform);
    axis.longest = axis.block > 0 ? kLargestPartTransform : 0;
  }
  if (axis.block == 0) axis.block = kLargestPartTransform / 2;
  const int needed = clipped(axis, axis.samples(outputs, picture));
  if (side == 1) {
    axis.apart = axis.block = needed;
    return axis;
  }
  if (part > 0) {
    axis.apart = axis.part = axis.framed = part;
  } else {
    // The fewest equal parts that constant memory holds; a mask that fits into one is one.
    const int least = std::min(axis.block, side);
    const int most = std::max(least, needed);
    const int shares = spatial && side > kMaxPartSide ? ceil_div(most, kMaxPartSide) : 1;
    axis.apart = axis.part = ceil_div(most, shares);
  }
  axis.block = ceil_div(needed, axis.part) * axis.part;
  axis.steps = tuning[Setting::accumulate] == kAtomic ? 1 : axis.ratio() + 1;
  if (spatial) axis.held = std::max(1, kMaxPartSide / axis.part) * axis.part;
  axis.held = std::min(axis.held, side);
  return axis;
}

template <class Axis>
BlockSchedule both_axes(const Problem& p, const Tuning& tuning, Axis axis) {
  const int accumulate = tuning[Setting::accumulate];
  return {axis(p, p.width, p.out_width(), p.mask.width, tuning),
          axis(p, p.height, p.out_height(), p.mask.height, tuning), accumulate == kAtomic,
          accumulate == kInDivisions};
}

std::string too_many(const Problem& p, const BlockAxis& x, const BlockAxis& y) {
  return blocks_refuse(x.blocks(p.out_width(), p.width), y.blocks(p.out_height(), p.height));
}

std::string spatial_refuses(const BlockAxis& x, const BlockAxis& y, const Tuning& tuning) {
  if (tuning[Setting::domain] != kSpatial) return "";
  return cells_refuse(x.block + 2 * (std::min(x.weights(), kMaxPartSide) - 1), y.block);
}

}  // namespace

std::string by(int columns, int rows) {
  return std::to_string(columns) + "x" + std::to_string(rows);
}

std::string cells_refuse(std::int64_t columns, std::int64_t rows) {
  if (columns * rows <= kMostCells) return "";
  return "shared memory holds " + std::to_string(kMostCells) + " cells of a block, not " +
         std::to_string(columns) + " x " + std::to_string(rows) +
         "; use a smaller --block, or leave it out";
}

Interval BlockAxis::piece(int n) const {
  if (parts() > 1) return {n * held, std::min(held, side - n * held)};
  // Shares are nearly equal, as those of PreparedMask::parts, which count from the other end.
  const int end = side - side * n / pieces();
  const int first = side - side * (n + 1) / pieces();
  return {first, end - first};
}

int BlockSchedule::batch(int frame_samples, int out_width, int out_height, bool kept) const {
  const bool apart = !divided && !kept;
  const int blocks = ceil_div(x.most_blocks(out_width), apart ? x.steps : 1) *
                     ceil_div(y.most_blocks(out_height), apart ? y.steps : 1);
  const int most = std::clamp(kBatchSamples / frame_samples, 1, kMostBatch);
  return ceil_div(blocks, ceil_div(blocks, most));
}

Intervals intervals_of(const BlockAxis& axis, int outputs, int before, int inputs, Interval weights,
                       int every, int step) {
  Intervals on{axis};
  on.every = every;
  on.step = step;
  on.lead = axis.bare ? std::max(0, before) : 0;
  const int end = outputs + axis.side - 1;
  on.samples = std::max(0, (axis.bare ? std::min(end, before + inputs) : end) - on.lead);
  on.origin = on.lead - before;
  const int reached = axis.block + weights.count - 1;
  const int last = axis.parts() - 1 + axis.ratio() * (on.blocks() - 1);  // the last interval
  const auto begin = [&] { return on.output(on.interval(0)) + weights.first; };
  while (on.blocks() > 0 && on.interval(0) <= last &&
         (on.interval(0) < step || begin() + reached <= 0))
    ++on.first;
  while (on.blocks() > 0 && on.interval(on.count) <= last &&
         on.output(on.interval(on.count)) + weights.first < outputs)
    ++on.count;
  return on;
}

BlockSchedule overlap_add_schedule(const Problem& p, const Tuning& tuning) {
  return both_axes(p, tuning, overlap_add_axis);
}

BlockSchedule in_parts_schedule(const Problem& p, const Tuning& tuning) {
  BlockSchedule schedule = both_axes(p, tuning, in_parts_axis);
  schedule.parted = true;
  if (tuning[Setting::accumulate] == kAsUsual) schedule.divided = true;
  return schedule;
}

std::string overlap_add_refuses(const Problem& p, const Tuning& tuning) {
  const BlockSchedule schedule = overlap_add_schedule(p, tuning);
  const BlockAxis &x = schedule.x, &y = schedule.y;
  if (const std::string many = too_many(p, x, y); !many.empty()) return many;
  if (const std::string cells = spatial_refuses(x, y, tuning); !cells.empty()) return cells;
  if (schedule.atomic && tuning[Setting::steps] != 0)
    return "atomic additions take one launch; leave out --steps, or use --accumulate=steps";
  if (schedule.atomic || (schedule.disjoint(x) && schedule.disjoint(y))) return "";
  const int meeting_x = schedule.meeting(x), meeting_y = schedule.meeting(y);
  const int asked = std::max(x.steps, y.steps);
  std::string reason = std::to_string(asked) + (asked == 1 ? " step" : " steps") +
                       " an axis let blocks of " + by(x.block, y.block) + " meet under a mask of " +
                       by(meeting_x, meeting_y) + "; use ";
  const int steps =
      1 + std::max(ceil_div(meeting_x - 1, x.block), ceil_div(meeting_y - 1, y.block));
  if (steps <= info_of(Setting::steps).highest) reason += "--steps=" + std::to_string(steps);
  if (asked == 1) {
    return steps <= info_of(Setting::steps).highest ? reason : reason + "a larger --block";
  }
  const int block = ceil_div(std::max(meeting_x, meeting_y) - 1, asked - 1);
  if (steps <= info_of(Setting::steps).highest) reason += " or ";
  return reason + "--block=" + std::to_string(block);
}

std::string in_parts_refuses(const Problem& p, const Tuning& tuning) {
  const BlockSchedule schedule = in_parts_schedule(p, tuning);
  const BlockAxis &x = schedule.x, &y = schedule.y;
  const int part = tuning[Setting::part], block = tuning[Setting::block];
  if (schedule.buffers() > kMostBuffers)
    return "each of " + by(x.steps, y.steps) + " divisions has a private buffer, but there are " +
           std::to_string(kMostBuffers) + " at most; use a larger --part, or --accumulate=steps";
  if (part > kMaxPartSide && tuning[Setting::domain] == kSpatial) {
    return "constant memory holds parts of up to " + by(kMaxPartSide, kMaxPartSide) +
           " weights; use --part=" + std::to_string(kMaxPartSide) + " or less";
  }
  if (part > 0 && block % part != 0) {
    return "--part=" + std::to_string(part) + " does not divide --block=" + std::to_string(block) +
           "; use --block=" + std::to_string(ceil_div(block, part) * part) + ", or leave it out";
  }
  if (const std::string cells = spatial_refuses(x, y, tuning); !cells.empty()) return cells;
  for (const BlockAxis& axis : {x, y})
    if (part == 0 && axis.side > kMaxPartSide && block > 0 && axis.block > block)
      return "no part of up to " + std::to_string(kMaxPartSide) +
             " weights divides --block=" + std::to_string(block) +
             " fairly; use --block=" + std::to_string(axis.block) + ", or say --part";
  return too_many(p, x, y);
}

std::vector<float> framed_parts(const Mask& mask, const BlockSchedule& schedule, int begin,
                                int count, int columns, int rows) {
  const BlockAxis &x = schedule.x, &y = schedule.y;
  std::vector<float> frames(std::size_t(columns) * rows * count);
  const double over = mask.divisor * columns * rows;
  for (int n = 0; n < std::min(count, x.parts() * y.parts() - begin); ++n) {
    // The mask's columns and rows, which count from the other end than weights of parts.
    const int first_i = x.side - (begin + n) % x.parts() * x.part - x.weights();
    const int first_j = y.side - (begin + n) / x.parts() * y.part - y.weights();
    for (int j = std::max(0, -first_j); j < y.weights(); ++j) {
      float* row = &frames[(std::size_t(n) * rows + j) * columns];
      for (int i = std::max(0, -first_i); i < x.weights(); ++i) {
        row[i] = float(mask.weight(first_i + i, first_j + j) / over);
      }
    }
  }
  return frames;
}

namespace {

/// The parts of the mask along an axis: those of the schedule, or the pieces of the only one.
int parts_of(const BlockAxis& axis) {
  return std::max(axis.parts(), axis.pieces());
}

/// The weights of the largest part along an axis.
int largest_part(const BlockAxis& axis) {
  return axis.parts() > 1 ? axis.part : ceil_div(axis.side, axis.pieces());
}

/// The outputs to which all launches add a block in the middle along an axis: under each part, or
/// in the frequency domain in each interval.
int outputs_added(const BlockAxis& axis, bool spatial) {
  if (spatial) return parts_of(axis) * (axis.block - 1) + axis.side;
  return std::min(axis.ratio(), axis.parts()) * axis.reach();
}

/// The launches along an axis, as a geometry describes them.
Adding adding_of(const BlockSchedule& s, const BlockAxis& axis, bool spatial) {
  Adding adding;
  adding.steps = s.scheduled() ? 1 : axis.steps;
  adding.divisions = s.scheduled() ? axis.steps : 0;
  for (int m = 0; m < parts_of(axis); ++m)
    adding.parts.push_back(axis.parts() == 1 ? axis.piece(m).count
                                             : std::min(axis.part, axis.side - m * axis.part));
  if (axis.parts() > 1) std::ranges::reverse(adding.parts);
  adding.sums = s.parted || s.divided || !spatial ? axis.ratio() : 0;
  return adding;
}

/// How many parts of the spatial domain there are, each of which reads every sample, as a formula.
std::string parts_text(const BlockAxis& x, const BlockAxis& y) {
  const auto along = [](const char* side, const BlockAxis& axis) {
    return "ceil(" + std::string(side) + " / " + std::to_string(std::min(axis.part, axis.held)) +
           ")";
  };
  if (parts_of(y) == 1) return along("w", x);
  if (parts_of(x) == 1) return along("h", y);
  return along("w", x) + " * " + along("h", y);
}

/// How parts and launches come about, in sentences.
std::string launches_note(const BlockSchedule& s, bool spatial, int parts) {
  const BlockAxis &x = s.x, &y = s.y;
  const auto by = [line = y.block == 1 && y.side == 1](int columns, int rows) {
    return line ? std::to_string(columns) : transform::by(columns, rows);
  };
  const std::string reach = by(x.block + largest_part(x) - 1, y.block + largest_part(y) - 1);
  if (s.parted || s.divided) {
    const int pieces = spatial ? x.pieces() * y.pieces() : 1;
    std::string note = "Products of " + by(x.parts(), y.parts()) +
                       (x.parts() * y.parts() == 1 ? " part" : " parts") +
                       " of the mask with blocks are summed by intervals of " + reach + " outputs" +
                       (spatial ? "" : ", transformed back once each");
    if (s.atomic) return note + ", and added in one launch, atomically where intervals meet.";
    note += ", in " + by(x.steps, y.steps) + " divisions. Intervals of one division lie " +
            by(x.steps * x.apart, y.steps * y.apart) + " apart, so none meet. ";
    if (!s.divided) return note + "One division after the other is added to one plane of sums.";
    return note + "Each division has a private buffer, so all run in " +
           (!spatial      ? "the same launches"
            : pieces == 1 ? "one launch"
                          : std::to_string(pieces) +
                                " launches, one for each piece of the mask that constant memory "
                                "holds") +
           "; a last one sums the buffers.";
  }
  std::string note =
      parts > 1 ? std::to_string(parts) + " parts of the mask, one after the other, " + "each in "
                : "Blocks are added in ";
  if (s.atomic)
    return note + "one launch; the outputs that neighbours share are added to atomically.";
  return note + by(x.steps, y.steps) + " launches. Blocks of one launch lie " +
         by(x.steps * x.block, y.steps * y.block) + " apart and write " + reach +
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
                     int total_bytes) {
  const BlockAxis &x = schedule.x, &y = schedule.y;
  const bool spatial = tuning[Setting::domain] == kSpatial;
  const int part_x = largest_part(x), part_y = largest_part(y);
  Geometry g;
  g.in_columns = x.block;
  g.in_rows = y.block;
  g.out_columns = x.block + part_x - 1;
  g.out_rows = y.block + part_y - 1;
  // Threads of the frequency domain load and keep all samples of a frame.
  const int columns = spatial ? g.out_columns : good_fft_size(x.frame());
  const int rows = spatial ? g.out_rows : good_fft_rows(y.frame());
  const Threads threads = threads_over(columns, rows);
  g.block_columns = threads.columns;
  g.block_rows = threads.rows;
  g.loading_threads = threads.busy(x.block, y.block);
  g.computing_threads = threads.busy(g.out_columns, g.out_rows);
  g.lead_x = p.lead_x() - (part_x - 1);  // if negative, the output tile begins further left
  g.lead_y = p.lead_y() - (part_y - 1);
  g.adding_x = adding_of(schedule, x, spatial);
  g.adding_y = adding_of(schedule, y, spatial);
  g.atomic = schedule.atomic;
  g.private_sums = schedule.buffers();
  const double added = double(outputs_added(x, spatial)) * outputs_added(y, spatial);
  (g.atomic ? g.adds : g.sum_accesses) = g.atomic ? added : 2 * added;
  g.sum_bytes = spatial ? total_bytes : int(sizeof(float));
  if (spatial) {
    const int parts = parts_of(x) * parts_of(y);
    g.shared_bytes = kMostCells * size_of(p.depth);
    g.loads = double(parts) * x.block * y.block;
    g.loads_per_output = parts > 1 ? parts_text(x, y) : "1";
    g.note = launches_note(schedule, true, parts) + " A block's samples are fetched into " +
             by(x.block + 2 * (part_x - 1), y.block) + " cells, with zeros on both sides.";
    if (!schedule.parted && !tuning[Setting::block])
      g.note += " Its side, unless set: 32, or what the steps need.";
    return g;
  }
  g.loads = double(x.block) * y.block;
  g.loads_per_output = "1";
  g.note = launches_note(schedule, false, 1) + " A block of the picture takes " +
           by(ceil_div(columns, threads.columns), ceil_div(rows, threads.rows)) +
           " blocks of threads.";
  g.note += side_note(x, y, tuning);
  return g;
}

namespace {

/// Counts a block under a part whose first column and row are the mask's (i, j). Its sums lie so
/// many rows further down than the outputs.
struct PairFormula {
  BlockFormula& block;
  const Geometry& g;
  int i, j, sums_down;

  void count(Sides part) const {
    // Under the first and the last w - 1 columns the block has no samples, and cells are zeros.
    // Rows without samples have no cells.
    const int columns = g.in_columns + part.width - 1, rows = g.in_rows + part.height - 1;
    const int cell_columns = columns + part.width - 1;
    using Cell = std::optional<BlockCell>;
    for_each_sweep(g, cell_columns, g.in_rows, [&](auto cell_of) {
      block.read([&](int col, int row) {
        const Cell own = cell_of(col, row);
        const int sample = own ? own->col - (part.width - 1) : -1;
        return sample >= 0 && sample < g.in_columns
                   ? moved(cell_of, i, j + part.height - 1)(col, row)
                   : Cell();
      });
      block.write_shared(cell_columns, cell_of);
    });
    block.barrier();
    for_each_sweep(g, columns, rows, [&](auto output_of) {
      for_each_tap(part, [&](int tap_i, int tap_j) {
        const auto tap = [&](int col, int row) {
          const Cell cell = moved(output_of, tap_i, tap_j - (part.height - 1))(col, row);
          return cell && cell->row >= 0 && cell->row < g.in_rows ? cell : Cell();
        };
        block.read_mask(tap);
        block.read_shared(cell_columns, tap);
      });
      const auto output = moved(output_of, 0, sums_down);
      g.atomic ? block.add_atomically(output) : block.add(output);
    });
  }
};

}  // namespace

std::optional<Counts> block_counts_of(const Problem& p, const Tuning& tuning,
                                      const BlockSchedule& schedule, const Geometry& geometry,
                                      const BlockPlace& place) {
  const BlockAxis &x = schedule.x, &y = schedule.y;
  if (tuning[Setting::domain] != kSpatial) return std::nullopt;
  const bool in_pieces = x.pieces() * y.pieces() > 1;
  const bool by_intervals = schedule.parted || schedule.divided;
  if (by_intervals && (in_pieces || !(schedule.atomic || schedule.divided))) return std::nullopt;
  BlockPlace at = place;
  Geometry g = geometry;
  if (!by_intervals) {
    // The first piece in the emulator's order, which is the mask's.
    const Interval columns = x.piece(0), rows = y.piece(0);
    if (in_pieces) {
      const auto middle = [](const BlockAxis& axis, int outputs, int before, int inputs,
                             Interval weights) {
        const Intervals on = intervals_of(axis, outputs, before, inputs, weights, axis.steps, 0);
        return on.output(on.interval(on.count / 2)) + weights.first;
      };
      at.x = middle(x, p.out_width(), p.lead_x(), p.width, columns);
      at.y = middle(y, p.out_height(), p.lead_y(), p.height, rows);
    }
    const Threads threads = threads_over(x.block + columns.count - 1, y.block + rows.count - 1);
    g.block_columns = threads.columns;
    g.block_rows = threads.rows;
    BlockFormula formula(p, g, at);
    PairFormula{formula, g, 0, 0, 0}.count({columns.count, rows.count});
    return formula.counts();
  }
  const Intervals on_x = divisions_of(x, p.out_width(), p.lead_x(), p.width);
  const Intervals on_y = divisions_of(y, p.out_height(), p.lead_y(), p.height);
  const int px = on_x.interval(on_x.count / 2), py = on_y.interval(on_y.count / 2);
  at.x = on_x.output(px);
  at.y = on_y.output(py);
  const int buffer = on_y.division(py) * on_x.divisions + on_x.division(px);
  BlockFormula formula(p, g, at);
  const Interval across = on_x.blocks_of(px), down = on_y.blocks_of(py);
  for (int by = down.first; by < down.first + down.count; ++by)
    for (int bx = across.first; bx < across.first + across.count; ++bx) {
      const Interval columns = on_x.weights_of(px, bx, {0, x.held});
      const Interval rows = on_y.weights_of(py, by, {0, y.held});
      PairFormula{formula, g, x.side - columns.first - columns.count,
                  y.side - rows.first - rows.count, buffer * p.out_height()}
          .count({columns.count, rows.count});
      if (by + 1 < down.first + down.count || bx + 1 < across.first + across.count)
        formula.barrier();
    }
  return formula.counts();
}

}  // namespace convfilt::transform
