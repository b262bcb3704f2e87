/// How overlap-add and in-parts cut a picture into blocks whose outputs overlap, and a schedule by
/// which those that are added at once never meet.
///
/// Along an axis this counts as true convolution does: weight i is the i-th from the mask's end (of
/// a mask that --flip turned: from its beginning), and its product with sample n belongs to output
/// i + n. Part i of the mask has the weights [i * L1, i * L1 + L1), block j of the picture the
/// samples [j * L2, j * L2 + L2), and L1 divides L2. The pair (i, j) reaches the L1 + L2 - 1
/// outputs from i * L1 + j * L2 on, and so does each pair with the same sum. Together they are an
/// interval. With q = L2 / L1 its number is p = i + q * j, and it begins at p * L1.
///
/// Intervals that begin L1 + L2 apart never meet. Division k has those with p = k + r * (q + 1), so
/// there are q + 1 divisions; an axis with one weight has one. In overlap-add the mask is one part,
/// each block is an interval, and each step has every K-th one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract/border.hpp"
#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt::transform {

/// Bytes of samples and spectra that fft and overlap-save transform at a time, where not all must
/// be.
inline constexpr std::size_t kBatchBytes = 64 << 20;
inline constexpr int kMostBatch = 65535;  ///< blocks, which a grid's y and z count

/// The indices first..first+count-1.
struct Interval {
  int first = 0, count = 0;

  bool operator==(const Interval&) const = default;
};

/// One axis of a schedule.
struct BlockAxis {
  int block = 1;      ///< L2 (S), the samples of a block
  int part = 1;       ///< L1 (P), the weights of a part, which may be more than the mask has
  int apart = 1;      ///< outputs from interval to interval: L1, or L2 where only i = 0 occurs
  int side = 1;       ///< w, the weights of the whole mask
  int held = 1;       ///< weights that a launch takes: the most that constant memory holds, or all
  int steps = 1;      ///< K: launches, each of which takes every K-th block; or the divisions
  int framed = 0;     ///< weights for which transforms have room, if that is more than a part has
  bool bare = false;  ///< whether blocks have no ghost cells, because all of them are zeros
  int longest = 0;    ///< S takes the least work among transforms of up to so many samples; 0 where
                      ///< something else determines it

  CONVFILT_HD int parts() const { return (side + part - 1) / part; }
  CONVFILT_HD int weights() const { return part < side ? part : side; }
  CONVFILT_HD int ratio() const { return block / apart; }
  CONVFILT_HD int reach() const { return block + weights() - 1; }
  int frame() const { return framed > weights() ? block + framed - 1 : reach(); }

  /// The samples under so many outputs, of a picture with that many.
  int samples(int outputs, int picture) const { return bare ? picture : outputs + side - 1; }

  /// The number of blocks that cover them.
  int blocks(int outputs, int picture) const {
    return (samples(outputs, picture) + block - 1) / block;
  }

  /// The most blocks under so many outputs, of a whole picture or of a window with ghost cells.
  int most_blocks(int outputs) const { return blocks(outputs, outputs + side - 1); }

  /// Each piece of the mask is launched alone. There are pieces() of them, and piece(n) has weights
  /// [first, first + count).
  int pieces() const { return (side + held - 1) / held; }
  Interval piece(int n) const;
};

/// Which intervals a launch takes along an axis, and what meets in each.
struct Intervals {
  BlockAxis axis;
  int divisions = 1;         ///< that have a private buffer each
  int origin = 0;            ///< the sample of the input where block 0 begins
  int lead = 0;              ///< the same, counted from the first sample under output 0
  int samples = 0;           ///< that the blocks share out
  int first = 0, count = 0;  ///< counts the intervals that have pairs
  int every = 1, step = 0;   ///< a launch takes every so many'th interval from number `step` on

  CONVFILT_HD int blocks() const { return (samples + axis.block - 1) / axis.block; }

  /// The number p of the launch's n-th interval. Where the mask has fewer parts than go into a
  /// block, the other intervals of each block have no pairs. From one interval of a step to the
  /// next p grows by q + 1, or any number where q = 1, which is 1 modulo q.
  CONVFILT_HD int interval(int n) const {
    const int q = axis.ratio(), reached = axis.parts() < q ? axis.parts() : q;
    const int k = first + n;
    return step + (k / reached * q + k % reached - step) * every;
  }
  CONVFILT_HD int division(int p) const { return p % divisions; }

  /// The blocks j that have a pair (p - q * j, j) in interval p.
  CONVFILT_HD Interval blocks_of(int p) const {
    const int q = axis.ratio(), before = p - axis.parts();
    const int begin = before < 0 ? 0 : before / q + 1;
    const int end = p / q < blocks() ? p / q + 1 : blocks();
    return {begin, begin < end ? end - begin : 0};
  }

  /// The weights of block j's part of interval p that are among those of a piece.
  CONVFILT_HD Interval weights_of(int p, int j, Interval piece) const {
    const int part = (p - axis.ratio() * j) * axis.part;
    const int begin = part > piece.first ? part : piece.first;
    const int end_of_part = part + axis.part < axis.side ? part + axis.part : axis.side;
    const int end =
        end_of_part < piece.first + piece.count ? end_of_part : piece.first + piece.count;
    return {begin, begin < end ? end - begin : 0};
  }

  /// The output where interval p begins; it may be negative.
  CONVFILT_HD int output(int p) const { return lead - (axis.side - 1) + p * axis.apart; }

  /// Whether an interval of division k has output x.
  CONVFILT_HD bool covers(int k, int x) const {
    const int place = x - output(k), period = divisions * axis.apart;
    return place >= 0 && place % period < axis.reach() &&
           blocks_of(k + place / period * divisions).count > 0;
  }
};

/// Every `every`-th interval from `step` on, if it reaches any of so many outputs under these
/// weights of a part. Sample 0 of the input lies `before` samples behind the first one under output
/// 0.
Intervals intervals_of(const BlockAxis& axis, int outputs, int before, int inputs, Interval weights,
                       int every = 1, int step = 0);

/// All intervals of all divisions that any of so many outputs needs.
inline Intervals divisions_of(const BlockAxis& axis, int outputs, int before, int inputs) {
  Intervals all = intervals_of(axis, outputs, before, inputs, {0, axis.weights()});
  all.divisions = axis.steps;
  return all;
}

struct BlockSchedule {
  BlockAxis x, y;
  bool atomic = false;   ///< one step, in which blocks may meet
  bool divided = false;  ///< whether each of steps * steps divisions has a private buffer
  bool parted = false;   ///< of in-parts, whose launches take all parts of the mask

  /// How many frames of so many samples are transformed at a time: equal shares of the blocks of a
  /// step, or of all blocks where their spectra are kept.
  int batch(int frame_samples, int out_width, int out_height, bool kept) const;

  int buffers() const { return divided ? x.steps * y.steps : 1; }
  bool scheduled() const { return divided || (parted && !atomic); }

  /// Weights along an axis under which intervals of a step, or of a division, must not meet.
  int meeting(const BlockAxis& axis) const {
    return parted || divided ? axis.weights() : axis.held;
  }
  bool disjoint(const BlockAxis& axis) const {
    return axis.steps * axis.apart >= axis.block + meeting(axis) - 1;
  }
};

/// Whether the problem is the whole convolution of the picture's samples. Blocks leave out ghost
/// cells then, which are zeros.
inline bool zeros_outside(const Problem& p) {
  return p.mode == Mode::full && p.border == Border::constant && p.border_value == 0;
}

/// overlap-add convolves each block with the whole mask, by default in K = 2 steps, or in 1 along
/// an axis with one weight. In the spatial domain constant memory has room for pieces of at most
/// kMaxPartSide weights along an axis, so it takes a larger mask piece by piece. By default a
/// block of the spatial domain has 32 samples along an axis, or the fewest that K allows. In the
/// frequency domain S + w - 1 is a power of two F from 16 to 512, with the least F^2 log F / S^2,
/// which is a transform's work per output. Where K allows none of these, F is the next power of two
/// that K allows.
BlockSchedule overlap_add_schedule(const Problem& problem, const Tuning& tuning);

/// Why the blocks of a step would meet, or a setting has no use; empty when all is well.
std::string overlap_add_refuses(const Problem& problem, const Tuning& tuning);

/// Why L1 would not divide L2, or there would be too many blocks; empty when all is well.
std::string in_parts_refuses(const Problem& problem, const Tuning& tuning);

/// in-parts cuts the mask, too, into parts of --part weights, or else of the block's side. Parts of
/// the spatial domain have at most kMaxPartSide weights along an axis, for which constant memory
/// has room: there larger blocks have the fewest equal parts. By default a block of the spatial
/// domain has 32 samples along an axis, or 31 under a mask of more weights. In the frequency domain
/// it follows overlap-add's rule with F up to 256 where that allows S >= w, so that there is one
/// part, and has 128 samples elsewhere. With --part it has twice as many.
BlockSchedule in_parts_schedule(const Problem& problem, const Tuning& tuning);

/// The parts begin..begin+count-1 of the mask, row by row, each in a frame of columns x rows that
/// is filled up with zeros: before the weights of a part that has fewer, and behind all. Weights
/// are divided by the divisor, and by the number of the frame's samples, because transforms there
/// and back multiply by that number.
std::vector<float> framed_parts(const Mask& mask, const BlockSchedule& schedule, int begin,
                                int count, int columns, int rows);

/// Cells of shared memory that a block of the spatial domain may take, which is 48 KB of floats.
inline constexpr int kMostCells = 12288;

/// Why the samples of a spatial block of such sides would not fit into shared memory, under a part
/// of that many columns; empty when they do.
std::string cells_refuse(std::int64_t columns, std::int64_t rows);

/// Columns and rows as text, e.g. "7x5".
std::string by(int columns, int rows);

/// A block of threads.
struct Threads {
  int columns, rows;

  /// How many of them sweep a rectangle of cells, or of outputs.
  int busy(int cell_columns, int cell_rows) const {
    return (columns < cell_columns ? columns : cell_columns) *
           (rows < cell_rows ? rows : cell_rows);
  }
};

/// The block of threads for columns x rows samples or outputs: 32 x 8, with a warp along a row, or
/// as many as a single row needs, up to 256.
inline constexpr Threads kThreads{32, 8};
inline Threads threads_over(int columns, int rows) {
  if (rows > 1) return kThreads;
  return {std::min(columns, kThreads.columns * kThreads.rows), 1};
}

/// The geometry that `explain` shows of a schedule. `total_bytes` are those of a sum of the spatial
/// domain.
Geometry geometry_of(const Problem& problem, const Tuning& tuning, const BlockSchedule& schedule,
                     int total_bytes);

/// The counts of a block of spatial_blocks.cu with that geometry. If the
/// mask is launched in pieces, they are those of the first launch of the first piece, for a block
/// in its middle. For in-parts it is the interval in the middle of all. Empty for the frequency
/// domain, where a library does most, and for in-parts under a mask in pieces.
std::optional<Counts> block_counts_of(const Problem& problem, const Tuning& tuning,
                                      const BlockSchedule& schedule, const Geometry& geometry,
                                      const BlockPlace& place);

}  // namespace convfilt::transform
