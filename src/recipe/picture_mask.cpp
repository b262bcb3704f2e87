#include "src/recipe/picture_mask.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/mask/file.hpp"
#include "src/mask/make.hpp"
#include "src/mask/number.hpp"
#include "src/picture/colour.hpp"
#include "src/picture/io.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

/// Pipes are left alone, because a byte that is read is gone.
bool is_picture(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary);
  unsigned char bytes[kSniffedBytes];
  file.read(reinterpret_cast<char*>(bytes), sizeof bytes);
  FormatId id;
  return sniff({bytes, std::size_t(file.gcount())}, &id);
}

std::vector<double> luma_of(const Image& image) {
  // In thousandths, so that sums of 8-bit samples are exact.
  const std::vector<double> shares =
      image.channels() == 1 ? std::vector<double>{1}
                            : std::vector<double>(std::begin(kLumaShares), std::end(kLumaShares));
  std::vector<double> luma;
  with_depth(image.depth(), [&]<class T>(TypeTag<T>) {
    for (int y = 0; y < image.height(); ++y) {
      const T* from = row_of<T>(image.view(), y);
      for (int x = 0; x < image.width(); ++x, from += image.channels())
        luma.push_back(std::inner_product(shares.begin(), shares.end(), from, 0.0));
    }
  });
  return luma;
}

Mask picture_mask(const std::string& path) {
  PictureReader reader(path, {});
  const Header header = reader.header();
  if (header.width > kMaxMaskSide || header.height > kMaxMaskSide)
    reader.fail("it has " + size_text(header.width, header.height) +
                " pixels, and a mask at most " + size_text(kMaxMaskSide, kMaxMaskSide) +
                "; make it smaller");
  if (header.channels == 4)
    reader.fail(
        "it has alpha, and a mask has none; write it without first, e.g. convfilt apply identity "
        "IN psf.ppm");
  const Image image = read_all(reader).image;
  for (const std::string& warning : reader.warnings()) log_warning(warning);
  const std::string name = std::filesystem::path(path).stem().string();
  const Mask mask = make_mask(printable_name(name), image.width(), image.height(), luma_of(image));
  if (const double sum = gain(mask); sum == 0 || !std::isfinite(sum))
    reader.fail("its luma sums to " + print_number(sum) +
                ", so it cannot be a mask; give a picture with something bright, and finite");
  log_detail(printable_name(path) + ": a mask of " + size_text(image.width(), image.height()) +
             " from the picture's luma, normalised to sum to 1");
  return normalized(mask);
}

}  // namespace

MaskSet text_or_picture_masks(const std::string& path_or_name) {
  return is_picture(path_or_name) ? MaskSet{{picture_mask(path_or_name)}}
                                  : load_masks(path_or_name);
}

}  // namespace convfilt
