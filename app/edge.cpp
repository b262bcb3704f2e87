#include "src/filter/edge.hpp"

#include "app/commands.hpp"

namespace convfilt {

void run(const EdgeCommand& command) {
  set_loudness(command.picture.loudness);
  std::vector<Mask> masks = edge_masks(command.edge);
  for (Mask& mask : masks) mask = finished(mask, command.picture);
  filter_pictures(command.picture, {[&](const Shape& shape, Convolver& convolver) {
                                      return edges_in_bands(shape, masks, convolver);
                                    },
                                    [&](const Image& in, Convolver& convolver, double) {
                                      return find_edges(in, masks, convolver);
                                    },
                                    [&](const Shape& shape, Convolver& convolver) {
                                      return needs_of_edges(shape, masks, convolver);
                                    },
                                    false, "edge", masks, resident_edges(masks)});
}

}  // namespace convfilt
