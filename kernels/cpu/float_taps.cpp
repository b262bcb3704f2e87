#include "kernels/cpu/float_taps.hpp"

#include <cstdint>

namespace convfilt::cpu {

template <class T>
FloatTaps float_taps(const PreparedMask<T>& mask, int step) {
  FloatTaps taps;
  taps.slots = mask.height + 1;
  for (const MaskPart<T>& part : mask.parts()) {
    const int first_slot = part.dy + mask.anchor_y, first_pixel = part.dx + mask.anchor_x;
    for (int row = 0; row <= part.height; ++row) {
      const bool upper = row<part.height, lower = row> 0;
      const int begin = int(taps.places.size());
      for (int i = 0; i < part.width; ++i) {
        taps.places.push_back({first_slot + row, (first_pixel + i) * step});
        taps.weights.push_back(upper ? part.weight(i, row) : 0);
        taps.weights.push_back(lower ? part.weight(i, row - 1) : 0);
      }
      taps.chains.push_back({begin, int(taps.places.size()), upper, lower});
    }
  }
  return taps;
}

template FloatTaps float_taps(const PreparedMask<std::uint16_t>&, int);
template FloatTaps float_taps(const PreparedMask<float>&, int);

}  // namespace convfilt::cpu
