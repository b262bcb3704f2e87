/// libFuzzer target: whatever an EXIF block, a TIFF's directory, the segments of a JPEG or an ICC
/// profile hold, it is understood or left out. First bytes tell which of them the input is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "src/picture/codecs/jpeg/segments.hpp"
#include "src/picture/codecs/tiff/directory.hpp"
#include "src/picture/codecs/tiff/tags.hpp"
#include "src/picture/colour.hpp"
#include "src/picture/metadata.hpp"
#include "src/picture/strip.hpp"
#include "src/picture/transfer_curve.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/support/files/picture.hpp"

namespace {

using namespace convfilt;
using testing::require;

void check_profile(const Bytes& icc) {
  for (const Depth depth : {Depth::u8, Depth::f32}) {
    for (const int channels : {1, 4}) {
      std::string note;
      Metadata metadata;
      metadata.icc = icc;
      const TransferCurve curve(metadata, depth, channels, &note);
      const Image in = testing::pattern(16, 1, channels, depth);
      Image back(16, 1, channels, depth);
      std::vector<float> light(in.row_bytes());
      curve.to_linear(in.view().row(0), 16, channels, light.data());
      curve.from_linear(light.data(), 16, channels, back.view().row(0));
      luminance_shares(metadata);
      try {
        ColourConversion(metadata, depth, channels, depth)(std::as_const(in).view(), back.view());
      } catch (const std::invalid_argument&) {  // no colours that can be converted
      }
      const Bytes fitting = profile_for(icc, channels);
      require(
          fitting.empty() || (channels == 1 ? profile_is_grey(fitting) : profile_is_rgb(fitting)),
          "a profile for so many channels");
    }
  }
  codes_in(icc);
}

void check_stripped(const Bytes& exif, const Bytes& xmp) {
  Metadata metadata;
  metadata.exif = exif;
  metadata.xmp = xmp;
  metadata.iptc = xmp;
  for (const Strip strip : {Strip::all, Strip::gps, Strip::all_but_rights}) {
    const Metadata left = stripped(metadata, strip);
    require(left.exif.size() <= exif.size() + 64, "EXIF does not grow");
    require(!has_tags(left.exif, kPlaceTags), "no place is left");
  }
  with_moved_place(exif, 3, -4);
  nodata_of(exif);
}

void check_exif(const Bytes& exif) {
  const int orientation = exif_orientation(exif);
  require(orientation >= 1 && orientation <= 8, "an orientation of 1 to 8");
  const Bytes result = exif_of_result(exif, 70000, 480);
  require(result.size() <= exif.size(), "EXIF does not grow");
  if (result.empty()) return;
  require(exif_is_little(result) == exif_is_little(exif), "the byte order stays");
  exif_of_result(result, 70000, 480);
  check_stripped(exif, exif);
}

void check_tiff(const Bytes& tiff) {
  const auto source = source_of(tiff);
  const TiffStructure file(*source);
  if (!file.valid()) return;
  const auto directory = file.directory(file.first());
  if (!directory) return;
  const Metadata metadata = metadata_of(file, *directory);
  check_exif(metadata.exif);
  check_profile(metadata.icc);
  const auto little = exif_is_little(metadata.exif);
  TiffArea area(little.value_or(true), false);
  add_metadata(metadata, area);
}

/// The application segments and comments that follow a JPEG's first marker.
std::vector<jpeg::Segment> segments_in(std::span<const unsigned char> jpeg) {
  std::vector<jpeg::Segment> segments;
  for (std::size_t at = 2; at + 4 <= jpeg.size() && jpeg[at] == 0xFF;) {
    const std::size_t length = std::size_t(jpeg[at + 2]) << 8 | jpeg[at + 3];
    const unsigned char marker = jpeg[at + 1];
    const bool is_application = marker >= jpeg::kApp0 && marker <= jpeg::kApp15;
    if (length < 2 || (!is_application && marker != jpeg::kComment)) break;
    const auto payload = jpeg.subspan(at + 4, std::min(length - 2, jpeg.size() - at - 4));
    segments.push_back({marker, Bytes(payload.begin(), payload.end())});
    at += 2 + length;
  }
  return segments;
}

void check_segments(std::span<const unsigned char> jpeg) {
  const Metadata metadata = jpeg::contents_of(segments_in(jpeg)).metadata;
  check_exif(metadata.exif);
  check_profile(metadata.icc);
  const jpeg::Segments written = jpeg::segments_of(metadata);
  if (!written.left_out.empty()) return;
  const Metadata again = jpeg::contents_of(written.list).metadata;
  require(again.exif == metadata.exif, "EXIF in segments");
  require(again.xmp == metadata.xmp, "XMP in segments");
  require(again.iptc == metadata.iptc, "IPTC in segments");
  require(again.comments == metadata.comments, "comments in segments");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, data + size);
  const auto has = [&](std::size_t at, const std::string& mark) {
    return size >= at + mark.size() && std::equal(mark.begin(), mark.end(), data + at);
  };
  if (has(0, "\xFF\xD8\xFF")) return check_segments(bytes), 0;
  if (has(36, "acsp")) return check_profile(bytes), 0;
  if (!has(0, "II") && !has(0, "MM")) return 0;
  check_exif(bytes);
  check_tiff(bytes);
  return 0;
}
