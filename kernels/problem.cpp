#include "problem.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace convfilt {

std::string_view name_of(Depth depth) {
  switch (depth) {
    case Depth::u8: return "u8";
    case Depth::u16: return "u16";
    case Depth::f32: return "f32";
  }
  return "?";
}

std::string_view name_of(Border border) {
  switch (border) {
    case Border::replicate: return "replicate";
    case Border::constant: return "constant";
    case Border::reflect: return "reflect";
    case Border::reflect101: return "reflect101";
    case Border::wrap: return "wrap";
  }
  return "?";
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

double gain(const Mask& mask) {
  double sum = 0;
  for (double w : mask.weights) sum += w;
  return sum / mask.divisor;
}

double absolute_gain(const Mask& mask) {
  double sum = 0;
  for (double w : mask.weights) sum += std::abs(w);
  return sum / mask.divisor;
}

std::string to_string(const Problem& p) {
  std::ostringstream line;
  line.imbue(std::locale::classic());
  line << p.width << 'x' << p.height << 'x' << p.channels << ' ' << name_of(p.depth) << ", mask "
       << p.mask.name << ' ' << p.mask.width << 'x' << p.mask.height << ", border "
       << name_of(p.border);
  if (p.border == Border::constant) line << ' ' << p.border_value;
  return line.str();
}

}  // namespace convfilt
