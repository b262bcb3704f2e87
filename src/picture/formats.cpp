#include "src/picture/formats.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <sstream>
#include <vector>

#include "src/base/suggest.hpp"

namespace convfilt {
namespace {

// A format holds what its encoder really keeps; what it would convert in silence counts as not
// held. HEIC and AVIF are the exception: deep samples lose bits there as their quality says, and 10
// or 12 remain. Those that are only read come last.
constexpr Format kFormats[] = {
    // id, name, extensions, {u8, u16, f32}, {grey, colour, alpha}, quality, through a file,
    // resolution in EXIF, written, labels of colours, module, pictures beside the first
    // clang-format off
    {FormatId::jpeg, "JPEG", "jpg jpeg jpe jfif",   true, false, false,  true, true, false,  true, false, false, true, Labels::profile, "", Several::none},
    {FormatId::png, "PNG", "png",                   true, true, false,   true, true, true,   false, false, false, true, Labels::all, "", Several::frames},
    {FormatId::tiff, "TIFF", "tif tiff",            true, true, true,    true, true, true,   false, false, false, true, Labels::profile, "", Several::all},
    {FormatId::webp, "WebP", "webp",                true, false, false,  false, true, true,   true, false, true, true, Labels::profile, "", Several::frames},
    {FormatId::bmp, "BMP", "bmp dib",               true, false, false,  true, true, false,  false, false, false, true, Labels::none, "opencv", Several::none},
    {FormatId::pnm, "PNM", "pnm",                   true, true, false,   true, true, false,  false, false, false, true, Labels::none, "", Several::none},
    {FormatId::pnm, "PGM", "pgm",                   true, true, false,   true, false, false, false, false, false, true, Labels::none, "", Several::none},
    {FormatId::pnm, "PPM", "ppm",                   true, true, false,   false, true, false, false, false, false, true, Labels::none, "", Several::none},
    {FormatId::pam, "PAM", "pam",                   true, true, false,   true, true, true,   false, false, false, true, Labels::none, "", Several::none},
    {FormatId::pfm, "PFM", "pfm",                   false, false, true,  true, true, false,  false, false, false, true, Labels::none, "", Several::none},
    {FormatId::hdr, "Radiance HDR", "hdr pic",      false, false, true,  false, true, false, false, true, false, true, Labels::none, "opencv", Several::none},
    {FormatId::jp2, "JPEG 2000", "jp2",             true, true, false,   true, true, true,   false, true, false, true, Labels::none, "opencv", Several::none},
    {FormatId::exr, "OpenEXR", "exr",               false, false, true,  true, true, true,   false, true, false, true, Labels::none, "opencv", Several::none},
    {FormatId::heic, "HEIC", "heic heif hif",       true, true, false,   true, true, true,   true, false, true, true, Labels::codes, "heif", Several::none},
    {FormatId::avif, "AVIF", "avif",                true, true, false,   true, true, true,   true, false, true, true, Labels::codes, "heif", Several::none},
    {FormatId::jxl, "JPEG XL", "jxl",               true, true, true,    true, true, true,   true, false, true, true, Labels::codes, "jxl", Several::none},
    {FormatId::pnm, "PBM", "pbm",                   true, false, false,  true, false, false, false, false, false, false, Labels::none, "", Several::none},
    {FormatId::gif, "GIF", "gif",                   true, false, false,  false, true, true,  false, false, false, false, Labels::none, "gif", Several::none},
    // clang-format on
};

constexpr std::string_view kOtherExtensions =
    "mpo insp btf tf8 apng jpf jpx j2k j2c jpc jph jxr wdp hdp heics heifs avifs "
    "dng cr2 cr3 crw nef nrw arw srf sr2 orf rw2 raf pef srw rwl 3fr iiq kdc dcr erf mrw mef x3f "
    "gpr "
    "psd psb xcf tga pcx ico ras sgi qoi fits fit dcm svs ndpi";

std::vector<std::string> words(std::string_view text) {
  std::istringstream all{std::string(text)};
  return {std::istream_iterator<std::string>(all), {}};
}

}  // namespace

std::span<const Format> written_formats() {
  return {std::begin(kFormats), std::ranges::find(kFormats, false, &Format::written)};
}

std::string known_extensions() {
  std::string result;
  for (const Format& format : written_formats()) {
    result += result.empty() ? "" : " ";
    result += format.extensions;
  }
  return result;
}

const Format* find_format(std::string_view extension) {
  if (extension.starts_with('.')) extension.remove_prefix(1);
  const std::string wanted = lower_case(std::string(extension));
  for (const Format& format : kFormats) {
    const auto names = words(format.extensions);
    if (std::find(names.begin(), names.end(), wanted) != names.end()) return &format;
  }
  return nullptr;
}

bool is_other_pictures(std::string_view extension) {
  const auto names = words(kOtherExtensions);
  return std::ranges::find(names, lower_case(std::string(extension))) != names.end();
}

std::string nearest_extension(std::string_view extension) {
  return nearest(extension, words(known_extensions()));
}

std::string extension_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == path.npos ? path : path.substr(slash + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos || dot == 0) return {};  // ".png" is a hidden file without an extension
  return std::string(name.substr(dot + 1));
}

std::string known_formats() {
  std::string result;
  for (const Format& format : kFormats) {
    if (format.name != name_of(format.id)) continue;  // PNM has several names
    result += result.empty() ? "" : ", ";
    result += format.name;
  }
  return result;
}

bool sniff(std::span<const unsigned char> bytes, FormatId* id) {
  const auto at = [&](std::size_t offset, std::string_view magic) {
    return bytes.size() >= offset + magic.size() &&
           std::memcmp(bytes.data() + offset, magic.data(), magic.size()) == 0;
  };
  using namespace std::string_view_literals;
  const bool netpbm = bytes.size() >= 3 && bytes[0] == 'P' && std::isspace(bytes[2]);
  if (at(0, "\xFF\xD8\xFF"sv)) return *id = FormatId::jpeg, true;
  if (at(0, "\x89PNG\r\n\x1A\n"sv)) return *id = FormatId::png, true;
  if (at(0, "II*\0"sv) || at(0, "MM\0*"sv) || at(0, "II+\0"sv) || at(0, "MM\0+"sv)) {
    return *id = FormatId::tiff, true;
  }
  if (at(0, "RIFF"sv) && at(8, "WEBP"sv)) return *id = FormatId::webp, true;
  if (at(0, "BM"sv)) return *id = FormatId::bmp, true;
  if (netpbm && bytes[1] >= '1' && bytes[1] <= '6') return *id = FormatId::pnm, true;
  if (at(0, "P7\n"sv)) return *id = FormatId::pam, true;
  if (netpbm && (bytes[1] == 'F' || bytes[1] == 'f')) return *id = FormatId::pfm, true;
  if (at(0, "#?RADIANCE"sv) || at(0, "#?RGBE"sv)) return *id = FormatId::hdr, true;
  if (at(0, "\0\0\0\x0CjP  \r\n\x87\n"sv) || at(0, "\xFF\x4F\xFF\x51"sv)) {
    return *id = FormatId::jp2, true;
  }
  if (at(0, "v/1\x01"sv)) return *id = FormatId::exr, true;
  if (at(0, "GIF87a"sv) || at(0, "GIF89a"sv)) return *id = FormatId::gif, true;
  if (at(0, "\xFF\x0A"sv) || at(0, "\0\0\0\x0CJXL \r\n\x87\n"sv)) {
    return *id = FormatId::jxl, true;
  }
  if (at(4, "ftyp"sv)) {
    // The major brand stands at 8, a version follows, and from 16 on come compatible brands, up to
    // the end of the box. "mif1" says nothing of the coding, so the others tell.
    const std::size_t length = std::size_t{bytes[2]} << 8 | bytes[3];
    bool heif = false;
    for (std::size_t brand = 8; brand + 4 <= std::min(bytes.size(), length); brand += 4) {
      if (brand == 12) continue;
      if (at(brand, "avif"sv) || at(brand, "avis"sv)) return *id = FormatId::avif, true;
      for (const std::string_view known :
           {"heic"sv, "heix"sv, "heim"sv, "heis"sv, "hevc"sv, "hevx"sv, "mif1"sv, "msf1"sv})
        heif |= at(brand, known);
    }
    if (heif) return *id = FormatId::heic, true;
  }
  return false;
}

const Format& format_of(FormatId id) {
  return *std::ranges::find(kFormats, id, &Format::id);
}

}  // namespace convfilt
