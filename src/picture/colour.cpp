#include "src/picture/colour.hpp"

#include <lcms2.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string_view>

#include "src/base/suggest.hpp"
#include "src/picture/metadata.hpp"

namespace convfilt {
namespace {

using Codes = ColourLabel::Codes;

template <auto kFree>
struct Free {
  void operator()(auto* object) const { kFree(object); }
};
using Profile = std::unique_ptr<void, Free<cmsCloseProfile>>;
using Curve = std::unique_ptr<cmsToneCurve, Free<cmsFreeToneCurve>>;

template <class Owner>
Owner owned(typename Owner::pointer object) {
  if (!object) throw std::bad_alloc();
  return Owner(object);
}

Profile open(const Bytes& icc) {
  return Profile(cmsOpenProfileFromMem(icc.data(), cmsUInt32Number(icc.size())));
}

bool is_of_space(const Bytes& icc, std::string_view space) {
  constexpr std::size_t kSpaceAt = 16;
  return icc.size() >= kSpaceAt + space.size() &&
         std::memcmp(&icc[kSpaceAt], space.data(), space.size()) == 0;
}

// ---- the numbers of H.273 -----------------------------------------------------------------------

enum Transfer : std::uint8_t { kLinear = 8, kSrgb = 13, kPq = 16, kHlg = 18 };

/// x and y of white, red, green and blue.
using Chromaticities = std::array<double, 8>;
constexpr Chromaticities kBt709 = {0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06};

struct Primaries {
  std::uint8_t code;
  std::string_view name;
  Chromaticities xy;
};
constexpr Primaries kPrimaries[] = {
    {1, "BT.709", kBt709},
    {ColourLabel::kUnsaid, "BT.709", kBt709},
    {4, "BT.470M", {0.31, 0.316, 0.67, 0.33, 0.21, 0.71, 0.14, 0.08}},
    {5, "BT.601 (625)", {0.3127, 0.329, 0.64, 0.33, 0.29, 0.6, 0.15, 0.06}},
    {6, "BT.601 (525)", {0.3127, 0.329, 0.63, 0.34, 0.31, 0.595, 0.155, 0.07}},
    {7, "SMPTE 240M", {0.3127, 0.329, 0.63, 0.34, 0.31, 0.595, 0.155, 0.07}},
    {9, "BT.2020", {0.3127, 0.329, 0.708, 0.292, 0.17, 0.797, 0.131, 0.046}},
    {11, "DCI-P3", {0.314, 0.351, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06}},
    {12, "Display P3", {0.3127, 0.329, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06}},
    {22, "EBU 3213", {0.3127, 0.329, 0.63, 0.34, 0.295, 0.605, 0.155, 0.077}}};

/// Curves that a profile holds as formulas: ((a x + b)^g, c x below d), or x^g where there is no a.
struct Formula {
  std::uint8_t code;
  std::string_view name;
  double g, a = 0, b = 0, c = 0, d = 0;
};
constexpr Formula kFormulas[] = {
    {1, "BT.709", 1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081},
    {6, "BT.601", 1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081},
    {14, "BT.2020", 1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081},
    {15, "BT.2020", 1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081},
    {4, "gamma 2.2", 2.2},
    {5, "gamma 2.8", 2.8},
    {7, "SMPTE 240M", 1 / 0.45, 1 / 1.1115, 0.1115 / 1.1115, 0.25, 0.0913},
    {kLinear, "linear", 1},
    {kSrgb, "sRGB", 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045},
    {ColourLabel::kUnsaid, "sRGB", 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045}};

template <class Row, std::size_t kCount>
const Row* find(const Row (&rows)[kCount], std::uint8_t code) {
  const Row* row = std::ranges::find(rows, code, &Row::code);
  return row == std::end(rows) ? nullptr : row;
}

/// SMPTE ST 2084; a light of 1 is 10000 candelas per square metre.
constexpr double kPqM1 = 2610.0 / 16384, kPqM2 = 2523.0 / 32, kPqC1 = 3424.0 / 4096,
                 kPqC2 = 2413.0 / 128, kPqC3 = 2392.0 / 128;
double pq_light(double code) {
  const double root = std::pow(std::max(code, 0.0), 1 / kPqM2);
  return std::pow(std::max(root - kPqC1, 0.0) / (kPqC2 - kPqC3 * root), 1 / kPqM1);
}
double pq_code(double light) {
  const double root = std::pow(std::max(light, 0.0), kPqM1);
  return std::pow((kPqC1 + kPqC2 * root) / (1 + kPqC3 * root), kPqM2);
}

/// ARIB STD-B67, the light of the scene.
constexpr double kHlgA = 0.17883277, kHlgB = 0.28466892, kHlgC = 0.55991073;
double hlg_light(double code) {
  return code <= 0.5 ? code * code / 3 : (std::exp((code - kHlgC) / kHlgA) + kHlgB) / 12;
}
double hlg_code(double light) {
  return light <= 1.0 / 12 ? std::sqrt(3 * std::max(light, 0.0))
                           : kHlgA * std::log(12 * light - kHlgB) + kHlgC;
}

// ---- labels -------------------------------------------------------------------------------------

std::optional<Chromaticities> chromaticities_of(const ColourLabel& label) {
  if (const auto codes = codes_of(label)) {
    const Primaries* found = find(kPrimaries, codes->primaries);
    return found && codes->full_range ? std::optional(found->xy) : std::nullopt;
  }
  if (!label.chromaticities) return kBt709;
  Chromaticities xy;
  for (std::size_t i = 0; i < xy.size(); ++i) xy[i] = (*label.chromaticities)[i] / 1e5;
  return xy;
}

/// The curve of a label as a profile holds it; null where the label is of an unknown kind. For a
/// screen without high dynamic range, white is what such a picture shows as paper (BT.2408).
Curve curve_in_profile(const ColourLabel& label, bool is_for_screen) {
  const auto codes = codes_of(label);
  if (!codes) {
    const double gamma = label.gamma ? 1e5 / std::max(*label.gamma, 1u) : 2.2;
    return owned<Curve>(cmsBuildGamma(nullptr, gamma));
  }
  if (!codes->full_range) return nullptr;
  if (codes->transfer == kPq || codes->transfer == kHlg) {
    constexpr double kWhitePq = 203.0 / 10000;
    const bool is_pq = codes->transfer == kPq;
    const double white = !is_for_screen ? 1 : is_pq ? kWhitePq : hlg_light(0.75);
    std::vector<float> table(4096);
    for (std::size_t i = 0; i < table.size(); ++i) {
      const double code = double(i) / double(table.size() - 1);
      table[i] = float(std::min(1.0, (is_pq ? pq_light(code) : hlg_light(code)) / white));
    }
    return owned<Curve>(
        cmsBuildTabulatedToneCurveFloat(nullptr, cmsUInt32Number(table.size()), table.data()));
  }
  const Formula* formula = find(kFormulas, codes->transfer);
  if (!formula) return nullptr;
  if (formula->a == 0) return owned<Curve>(cmsBuildGamma(nullptr, formula->g));
  const double numbers[] = {formula->g, formula->a, formula->b, formula->c, formula->d};
  constexpr int kWithLine = 4;  // the type of curve in ICC profiles, from 1
  return owned<Curve>(cmsBuildParametricToneCurve(nullptr, kWithLine, numbers));
}

/// Null where lcms2 cannot make it.
Profile profile_with(cmsToneCurve* curve, const Chromaticities& xy, int channels) {
  if (channels == 1) return owned<Profile>(cmsCreateGrayProfile(cmsD50_xyY(), curve));
  const cmsCIExyY white{xy[0], xy[1], 1};
  const cmsCIExyYTRIPLE primaries{{xy[2], xy[3], 1}, {xy[4], xy[5], 1}, {xy[6], xy[7], 1}};
  cmsToneCurve* const curves[] = {curve, curve, curve};
  return Profile(cmsCreateRGBProfile(&white, &primaries, curves));
}

Profile make_profile(const ColourLabel& label, int channels, bool is_for_screen) {
  const auto xy = chromaticities_of(label);
  const Curve curve = xy ? curve_in_profile(label, is_for_screen) : nullptr;
  return curve ? profile_with(curve.get(), *xy, channels) : nullptr;
}

/// The bytes of a profile, the same at any time. `words` name it.
Bytes saved(cmsHPROFILE profile, const std::string& words) {
  constexpr std::size_t kDateAt = 24;
  constexpr unsigned char kDate[] = {0x07, 0xEA, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0};
  if (!words.empty()) {
    const std::unique_ptr<cmsMLU, Free<cmsMLUfree>> text(cmsMLUalloc(nullptr, 1));
    if (!text || !cmsMLUsetASCII(text.get(), "en", "US", words.c_str()) ||
        !cmsWriteTag(profile, cmsSigProfileDescriptionTag, text.get()))
      throw std::bad_alloc();
  }
  cmsUInt32Number size = 0;
  if (!cmsSaveProfileToMem(profile, nullptr, &size)) return {};
  Bytes bytes(size);
  if (!cmsSaveProfileToMem(profile, bytes.data(), &size)) return {};
  std::copy(std::begin(kDate), std::end(kDate), bytes.begin() + kDateAt);
  return bytes;
}

/// The curve of a profile; null where it has none. lcms2 keeps it.
const cmsToneCurve* curve_in(cmsHPROFILE profile, int channel) {
  constexpr cmsTagSignature kColours[] = {cmsSigBlueTRCTag, cmsSigGreenTRCTag, cmsSigRedTRCTag};
  const bool is_grey = cmsGetColorSpace(profile) == cmsSigGrayData;
  return static_cast<const cmsToneCurve*>(
      cmsReadTag(profile, is_grey ? cmsSigGrayTRCTag : kColours[channel]));
}

/// The colour of a channel in a profile; null where it has none. lcms2 keeps it.
const cmsCIEXYZ* colour_in(cmsHPROFILE profile, int channel) {
  constexpr cmsTagSignature kColours[] = {cmsSigBlueColorantTag, cmsSigGreenColorantTag,
                                          cmsSigRedColorantTag};
  return static_cast<const cmsCIEXYZ*>(cmsReadTag(profile, kColours[channel]));
}

/// Functions of a curve. Below 0 they are mirrored; above 1 a table goes on in proportion.
ToneCurve functions_of(const cmsToneCurve* curve) {
  const auto function_of = [](std::shared_ptr<cmsToneCurve> curve) {
    if (!curve) throw std::bad_alloc();
    return [curve](double value) {
      const bool is_formula = cmsGetToneCurveParametricType(curve.get()) != 0;
      const double size = std::abs(value), inside = is_formula ? size : std::min(size, 1.0);
      const double at = double(cmsEvalToneCurveFloat(curve.get(), float(inside)));
      return std::copysign(inside > 0 ? at * (size / inside) : at, value);
    };
  };
  const auto shared = [](cmsToneCurve* made) {
    return std::shared_ptr<cmsToneCurve>(made, cmsFreeToneCurve);
  };
  return {function_of(shared(cmsDupToneCurve(curve))),
          function_of(shared(cmsReverseToneCurve(curve)))};
}

/// Whether the label counts, and not the profile. PNG says so of cICP.
bool label_rules(const Metadata& metadata) {
  return metadata.label.codes || metadata.icc.empty();
}

}  // namespace

std::optional<Codes> codes_of(const ColourLabel& label) {
  constexpr std::uint32_t kOfSrgb[] = {31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000};
  if (label.codes) return label.codes;
  if (label.srgb_intent) return ColourLabel::kSrgb;
  const auto near = [](std::uint32_t a, std::uint32_t b) { return a + 100 > b && b + 100 > a; };
  const bool is_bt709 = !label.chromaticities || std::equal(std::begin(kOfSrgb), std::end(kOfSrgb),
                                                            label.chromaticities->begin(), near);
  if (!is_bt709) return std::nullopt;
  if (!label.gamma) return label.chromaticities ? std::optional(ColourLabel::kSrgb) : std::nullopt;
  if (near(*label.gamma, 45455)) return ColourLabel::kSrgb;
  return near(*label.gamma, 100000) ? std::optional(ColourLabel::kLinear) : std::nullopt;
}

std::optional<Codes> codes_in(const Bytes& icc) {
  const Profile profile = open(icc);
  const auto* const signal =
      profile ? static_cast<const cmsVideoSignalType*>(cmsReadTag(profile.get(), cmsSigcicpTag))
              : nullptr;
  if (!signal || signal->MatrixCoefficients != 0) return std::nullopt;
  return Codes{signal->ColourPrimaries, signal->TransferCharacteristics,
               signal->VideoFullRangeFlag != 0};
}

bool is_profile(const Bytes& icc) {
  return open(icc) != nullptr;
}

bool profile_is_grey(const Bytes& icc) {
  return is_of_space(icc, "GRAY");
}

bool profile_is_rgb(const Bytes& icc) {
  return is_of_space(icc, "RGB ");
}

ToneCurve curve_of(const Metadata& metadata, Depth depth, int channel, std::string* note) {
  const ToneCurve srgb =
      depth == Depth::f32 ? ToneCurve{} : ToneCurve{light_of_srgb, srgb_of_light};
  const std::string taken = srgb.light ? "sRGB's are taken" : "its samples are taken for light";
  if (!label_rules(metadata)) {
    const Profile profile = open(metadata.icc);
    if (const cmsToneCurve* curve = profile ? curve_in(profile.get(), channel) : nullptr)
      return functions_of(curve);
    *note = "its colour profile has no curves for --linear; " + taken;
    return srgb;
  }
  const ColourLabel& label = metadata.label;
  const auto codes = codes_of(label);
  if (says_nothing(label, depth) || (!codes && !label.gamma) ||
      (codes && codes->transfer == ColourLabel::kUnsaid))
    return srgb;
  if (codes && codes->full_range && codes->transfer == kPq) return {pq_light, pq_code};
  if (codes && codes->full_range && codes->transfer == kHlg) return {hlg_light, hlg_code};
  if (const Curve curve = curve_in_profile(label, false)) return functions_of(curve.get());
  *note = "its colours (" + words_of(label) + ") have no curve that is known; " + taken;
  return srgb;
}

LumaShares luminance_shares(const Metadata& metadata) {
  constexpr std::array kOfBt709{0.0722, 0.7152, 0.2126};
  Profile profile =
      label_rules(metadata) ? make_profile(metadata.label, 3, false) : open(metadata.icc);
  if (!profile) return kOfBt709;
  // Profiles hold their primaries as they look in the light D50; luminance is meant in D65. This is
  // the row of the inverse of Bradford's adaptation that gives Y.
  constexpr double kFromX = -0.0282895, kFromY = 1.0099416, kFromZ = 0.0210077;
  std::array<double, 3> shares{};
  double sum = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const cmsCIEXYZ* colour = colour_in(profile.get(), int(c));
    if (!colour) return kOfBt709;
    shares[c] = kFromX * colour->X + kFromY * colour->Y + kFromZ * colour->Z;
    sum += shares[c];
  }
  constexpr double kSame = 2e-3;
  bool is_bt709 = true;
  for (std::size_t c = 0; c < 3; ++c) {
    shares[c] /= sum;
    if (!(shares[c] > 0)) return kOfBt709;
    is_bt709 = is_bt709 && std::abs(shares[c] - kOfBt709[c]) < kSame;
  }
  return is_bt709 ? kOfBt709 : shares;
}

Bytes profile_for(const Bytes& icc, int channels) {
  if (icc.empty() || (channels == 1 ? profile_is_grey(icc) : profile_is_rgb(icc))) return icc;
  const Profile profile = open(icc);
  const bool known = profile_is_grey(icc) || profile_is_rgb(icc);
  constexpr int kGreen = 1;
  const cmsToneCurve* curve = profile && known ? curve_in(profile.get(), kGreen) : nullptr;
  if (!curve) return {};
  const Curve own = owned<Curve>(cmsDupToneCurve(curve));
  const Profile made = profile_with(own.get(), kBt709, channels);
  if (!made) throw std::bad_alloc();
  char words[200] = "";
  cmsGetProfileInfoASCII(profile.get(), cmsInfoDescription, "en", "US", words, sizeof words);
  return saved(made.get(), words);
}

Bytes profile_of(const ColourLabel& label, int channels) {
  if (!codes_of(label) && !label.gamma && !label.chromaticities) return {};
  const Profile profile = make_profile(label, channels, false);
  if (!profile) return {};
  const auto codes = codes_of(label);
  if (codes && (codes->transfer == kPq || codes->transfer == kHlg) && channels > 1) {
    // A table of samples only approaches these curves; the codes are exact.
    cmsSetProfileVersion(profile.get(), 4.4);
    cmsVideoSignalType signal{codes->primaries, codes->transfer, 0, 1};
    if (!cmsWriteTag(profile.get(), cmsSigcicpTag, &signal)) return {};
  }
  return saved(profile.get(), words_of(label));
}

bool says_nothing(const ColourLabel& label, Depth depth) {
  const auto codes = codes_of(label);
  return codes ? codes->say_nothing(depth) : !label.gamma && !label.chromaticities;
}

std::string words_of(const ColourLabel& label) {
  const auto named = [](const auto& rows, std::uint8_t code) {
    const auto* row = find(rows, code);
    return row ? std::string(row->name) : "number " + std::to_string(code);
  };
  if (const auto codes = codes_of(label)) {
    const std::string transfer = codes->transfer == kPq    ? "PQ"
                                 : codes->transfer == kHlg ? "HLG"
                                                           : named(kFormulas, codes->transfer);
    const std::string primaries = named(kPrimaries, codes->primaries);
    return (primaries == transfer ? primaries : primaries + ", " + transfer) +
           (codes->full_range ? "" : ", narrow range");
  }
  if (label.in_exif) return "Adobe RGB";
  std::string words = label.chromaticities ? "primaries in numbers" : "BT.709";
  if (label.gamma) words += with_format(", gamma %.3g", 1e5 / std::max(*label.gamma, 1u));
  return words;
}

bool profile_says_nothing(const Bytes& icc, Depth depth) {
  ColourLabel label;
  label.codes = depth == Depth::f32 ? ColourLabel::kLinear : ColourLabel::kSrgb;
  const bool is_grey = profile_is_grey(icc);
  const Profile profile = open(icc), usual = make_profile(label, is_grey ? 1 : 3, false);
  if (!profile || (!is_grey && !profile_is_rgb(icc))) return false;
  constexpr int kSteps = 32;
  constexpr double kSame = 2e-3;
  for (int channel = 0; channel < (is_grey ? 1 : 3); ++channel) {
    const cmsToneCurve *one = curve_in(profile.get(), channel),
                       *other = curve_in(usual.get(), channel);
    if (!one) return false;
    for (int i = 0; i <= kSteps; ++i) {
      const float at = float(i) / kSteps;
      if (std::abs(cmsEvalToneCurveFloat(one, at) - cmsEvalToneCurveFloat(other, at)) > kSame)
        return false;
    }
    if (is_grey) continue;
    const cmsCIEXYZ *a = colour_in(profile.get(), channel), *b = colour_in(usual.get(), channel);
    if (!a || std::abs(a->X - b->X) > kSame || std::abs(a->Y - b->Y) > kSame ||
        std::abs(a->Z - b->Z) > kSame)
      return false;
  }
  return cmsIsTag(profile.get(), cmsSigAToB0Tag) == 0;
}

ColourConversion::ColourConversion(const Metadata& metadata, Depth depth, int channels,
                                   Depth result) {
  const bool is_float = depth == Depth::f32;
  const Profile from = label_rules(metadata) ? make_profile(metadata.label, channels, true)
                                             : open(profile_for(metadata.icc, channels));
  ColourLabel usual;
  usual.codes = result == Depth::f32 ? ColourLabel::kLinear : ColourLabel::kSrgb;
  const Profile to = make_profile(usual, channels, true);
  const cmsUInt32Number space = channels == 1
                                    ? COLORSPACE_SH(PT_GRAY) | CHANNELS_SH(1)
                                    : COLORSPACE_SH(PT_RGB) | CHANNELS_SH(3) | DOSWAP_SH(1) |
                                          (channels == 4 ? EXTRA_SH(1) | SWAPFIRST_SH(1) : 0);
  const cmsUInt32Number format =
      space | BYTES_SH(cmsUInt32Number(size_of(depth))) | FLOAT_SH(cmsUInt32Number(is_float));
  if (from)
    transform_ = std::shared_ptr<void>(
        cmsCreateTransform(from.get(), format, to.get(), format, INTENT_RELATIVE_COLORIMETRIC,
                           cmsFLAGS_NOCACHE | (channels == 4 ? cmsFLAGS_COPY_ALPHA : 0)),
        [](void* made) {
          if (made) cmsDeleteTransform(made);
        });
  if (!transform_) throw std::invalid_argument("colours that lcms2 does not convert");
}

void ColourConversion::operator()(PictureView<const std::byte> from,
                                  PictureView<std::byte> to) const {
  for (int y = 0; y < from.height; ++y)
    cmsDoTransform(transform_.get(), from.row(y), to.row(y), cmsUInt32Number(from.width));
}

}  // namespace convfilt
