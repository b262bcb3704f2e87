#include "kernels/problem.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace convfilt {
std::string_view name_of(Depth depth) {
  constexpr std::string_view kNames[] = {"u8", "u16", "f32"};
  return kNames[int(depth)];
}

std::string_view name_of(Border border) {
  constexpr std::string_view kNames[] = {"replicate", "constant", "reflect", "reflect101", "wrap"};
  return kNames[int(border)];
}

std::string_view name_of(Mode mode) {
  constexpr std::string_view kNames[] = {"same", "valid", "full"};
  return kNames[int(mode)];
}

std::size_t size_of(Depth depth) {
  return depth == Depth::u8 ? 1 : depth == Depth::u16 ? 2 : 4;
}

double full_range(Depth depth) {
  return depth == Depth::u8 ? 255 : depth == Depth::u16 ? 65535 : 1;
}

Mask make_mask(std::string name, int width, int height, std::vector<double> weights, double divisor,
               double offset) {
  return {std::move(name),    width,   height, width / 2, height / 2,
          std::move(weights), divisor, offset};
}

Mask flipped(const Mask& mask) {
  Mask turned = mask;
  std::reverse(turned.weights.begin(), turned.weights.end());
  turned.anchor_x = mask.width - 1 - mask.anchor_x;
  turned.anchor_y = mask.height - 1 - mask.anchor_y;
  return turned;
}

bool filter_alike(const Mask& a, const Mask& b) {
  return a.width == b.width && a.height == b.height && a.anchor_x == b.anchor_x &&
         a.anchor_y == b.anchor_y && a.divisor == b.divisor && a.offset == b.offset &&
         a.weights == b.weights;
}

std::string mode_refuses(const Problem& p) {
  if (p.out_width() >= 1 && p.out_height() >= 1) return "";
  return "the mask of " + std::to_string(p.mask.width) + "x" + std::to_string(p.mask.height) +
         " lies nowhere inside a picture of " + std::to_string(p.width) + "x" +
         std::to_string(p.height) + "; use --mode=same or full";
}

std::string to_string(const Problem& p) {
  std::ostringstream line;
  line.imbue(std::locale::classic());
  line << p.width << 'x' << p.height << 'x' << p.channels << ' ' << name_of(p.depth) << ", mask "
       << p.mask.name << ' ' << p.mask.width << 'x' << p.mask.height << ", border "
       << name_of(p.border);
  if (p.border == Border::constant) line << ' ' << p.border_value;
  if (p.mode != Mode::same) line << ", mode " << name_of(p.mode);
  return line.str();
}

}  // namespace convfilt
