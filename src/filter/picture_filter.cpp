#include "src/filter/picture_filter.hpp"

#include "src/filter/edge.hpp"
#include "src/mask/make.hpp"

namespace convfilt {

PictureFilter filter_by(Mask mask) {
  return {
      [mask](const Shape& shape, Convolver& convolver) { return convolver.in_bands(shape, mask); },
      [mask](const Image& in, Convolver& convolver, double unit) {
        Mask scaled = mask;
        scaled.offset *= unit;
        return convolver.convolve(in, scaled);
      },
      [mask](const Shape& shape, Convolver& convolver) { return convolver.needs(shape, mask); },
      has_unit_gain(mask),
      "mask",
      {mask},
      resident_mask(mask)};
}

PictureFilter edges_by(std::vector<Mask> masks) {
  return {[masks](const Shape& shape, Convolver& convolver) {
            return edges_in_bands(shape, masks, convolver);
          },
          [masks](const Image& in, Convolver& convolver, double) {
            return find_edges(in, masks, convolver);
          },
          [masks](const Shape& shape, Convolver& convolver) {
            return needs_of_edges(shape, masks, convolver);
          },
          false,
          "edge",
          masks,
          resident_edges(masks)};
}

}  // namespace convfilt
