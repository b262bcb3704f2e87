/// One row of a comparison.
#pragma once

#include "src/lab/compare/piece.hpp"

namespace convfilt {

/// The context that rows share.
struct Bench {
  Pieces& pieces;
  const CompareOptions& options;
  const Machine& machine;
  DeviceLimits& limits;
};

/// The piece on which all these are counted in the emulator, since counts on pieces of different
/// size cannot be compared: their edges weigh differently. By estimate patience allows it to each.
PieceSize emulated_piece(const Bench& bench, const std::vector<Contender>& contenders);

/// Runs the contender there, on `piece` or else on as large a piece of the picture as patience
/// allows. A refusal or a failure is told in the row.
Row measure_row(const Bench& bench, const Contender& contender, const Location& location,
                const PieceSize* piece = nullptr);

}  // namespace convfilt
