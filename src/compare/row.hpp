/// One row of a comparison.
#pragma once

#include "src/compare/piece.hpp"

namespace convfilt {

/// What rows share.
struct Bench {
  Pieces& pieces;
  const CompareOptions& options;
  const Machine& machine;
  DeviceLimits& limits;
};

/// Runs the contender there, on `piece` or else on as large a piece of the picture as patience
/// allows. A refusal or a failure is told in the row.
Row measure_row(const Bench& bench, const Contender& contender, const Location& location,
                const PieceSize* piece = nullptr);

}  // namespace convfilt
