/// One block enlarged: its cells by what they are, the mask over one output, the sides labelled.
#pragma once

#include <string>
#include <vector>

#include "src/explain/explain.hpp"
#include "src/explain/panel.hpp"

namespace convfilt {

/// Kinds of cells, in the colours of Okabe and Ito, which the colour-blind can tell apart.
struct CellKind {
  std::string_view colour;
  Fill fill = Fill::solid;
};
inline constexpr CellKind kImageCell{"#e4e4e4"};
inline constexpr CellKind kOutputCell{"#56b4e9"};
inline constexpr CellKind kIdleOutputCell{"#cfe6f5"};    ///< of the tile, but not of the result
inline constexpr CellKind kSharedOutputCell{"#cc79a7"};  ///< neighbour blocks add to it too
inline constexpr CellKind kHaloCell{"#e69f00"};
inline constexpr CellKind kTapCell{"#f7e3b5"};  ///< read from global memory, tap by tap
inline constexpr CellKind kGhostCell{"#707070", Fill::hatched};

inline constexpr Pen kImageEdge{"#0072b2", 2.5};
inline constexpr Pen kMaskEdge{"#000000", 2};

/// Where a block's tiles lie, in samples of the image.
struct BlockBoxes {
  Box image;
  Box input;    ///< the input tile; of no size where none is kept
  Box output;   ///< the whole output tile
  Box result;   ///< what of it the result has
  Box own;      ///< outputs of this block alone, where output tiles overlap
  Box touched;  ///< all samples under the mask
  bool overlap = false;

  /// All but the image.
  Box extent() const;
};

/// Of block (tile_x, tile_y) of the grid.
BlockBoxes boxes_of(const Explanation& explanation, int tile_x, int tile_y);

/// Fills the cells; thin lines between them where they are not too small.
void draw_cells(Panel& panel, const BlockBoxes& boxes);

/// Over which of a block's outputs the mask is drawn.
enum class Sample { first, middle };

/// The block with its measures, under a title.
std::string block_panel(const Explanation& explanation, const BlockBoxes& boxes, const Box& place,
                        Sample sample, const std::string& title, const std::string& below);

}  // namespace convfilt
