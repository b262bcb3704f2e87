/// The reads of kernels, counted by the emulator while it runs their source.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// The parts of the mask, where each has launches of its own over the blocks; else 1.
std::size_t parts_with_launches(const Geometry& geometry);

/// Whether the blocks of two problems are of one size and read as much.
bool same_blocks(const Geometry& a, const Geometry& b);

/// Runs the strategy in the emulator on one plane of the problem's picture, all of whose samples
/// are zeros.
Counts run_on_zeros(const Strategy& strategy, const Problem& problem, const PlanOptions& options);

/// The counts of one plane of the problem's picture. Empty where the strategy's kernels do not run
/// in the emulator.
std::optional<Counts> count_reads(const Strategy& strategy, const Problem& problem,
                                  const Tuning& tuning);

/// The counts of one block in the middle of a picture, far from the edges: what one more column and
/// one more row of blocks add together to a picture of whole tiles, less what each adds alone.
/// Empty also where the blocks are of another size in pictures that small.
std::optional<Counts> count_middle_block(const Strategy& strategy, const Problem& problem,
                                         const Tuning& tuning);

/// One block in the middle of a picture, by formula and by count.
struct WatchedBlock {
  Counts formula, count;
};

/// A number of Counts, and its name.
struct CountName {
  std::string_view name;
  std::uint64_t (*of)(const Counts&);
};

/// The counts that are reported for a watched block.
std::span<const CountName> watched_counts();

/// Counts such a block alone, with rows padded as plans have them, or packed as those of the
/// problem's picture would be. Where each part of the mask has launches of its own, it is counted
/// under the first. Empty where the strategy has no formula for it, or other blocks in smaller
/// pictures.
std::optional<WatchedBlock> watch_middle_block(const Strategy& strategy, const Problem& problem,
                                               const Tuning& tuning, bool padded_pitch);

/// The counts of such a block in one plane, warps and all. Empty where they are not of one launch:
/// if blocks add to their neighbours, or if the mask is cut into parts.
std::optional<Counts> count_watched_block(const Strategy& strategy, const Problem& problem,
                                          const Tuning& tuning, bool padded_pitch);

/// The settings with the tile by default written into them where a mask of one row has blocks as
/// long as the row, so that a picture of several blocks has the problem's.
Tuning with_tile_of(const Strategy& strategy, const Problem& problem, Tuning tuning);

/// The problem on a picture of whole blocks, so few that there is just one in the middle, far from
/// all edges. The strategy must have blocks.
Problem with_middle_block(const Strategy& strategy, const Problem& problem, const Tuning& tuning);

/// The problem on a smaller picture where the emulator would take longer than a moment, else as it
/// is. The smaller picture has fewer whole tiles, and the same cut ones at its edges. `tile_x` and
/// `tile_y` are a block's outputs in columns and rows.
Problem quickly_counted(const Problem& problem, Family family, int tile_x, int tile_y);

/// Whether a library computes the sums, by Fourier transforms or matrices. Its reads are not
/// counted, so the ratio of taps to counted reads says nothing.
bool sums_by_library(const Strategy& strategy, const Tuning& tuning);

}  // namespace convfilt
