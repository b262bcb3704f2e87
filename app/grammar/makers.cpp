#include "app/grammar/makers.hpp"

#include <algorithm>
#include <iterator>

#include "src/base/suggest.hpp"
#include "src/mask/make.hpp"
#include "src/mask/shapes.hpp"

namespace convfilt {
namespace {

const FilterOption kOptions[] = {
    {.name = "--sigma",
     .letters = "X[,Y]",
     .text = "pixels. Y is for columns, and gaussian alone has it; one of two may be 0",
     .bounds = {0, kMaxSigma, true},
     .mark = ',',
     .second = {0, kMaxSigma}},
    {.name = "--outer",
     .letters = "S",
     .text = "pixels. The larger sigma, of what is taken away",
     .bounds = {0, kMaxSigma, true}},
    {.name = "--side",
     .letters = "N",
     .text = "pixels",
     .bounds = {1, kMaxBinomialSide},
     .is_whole = true},
    {.name = "--radius", .letters = "R", .text = "pixels", .bounds = {0.5, kMaxDiskRadius}},
    {.name = "--length", .letters = "L", .text = "pixels", .bounds = {1, kMaxMotion}},
    {.name = "--angle",
     .letters = "A",
     .text = "degrees. Counter-clockwise from a row; by default 0",
     .bounds = kAngles},
    {.name = "--wavelength", .letters = "L", .text = "pixels", .bounds = {2, kMaxMaskSide}},
    {.name = "--phase",
     .letters = "P",
     .text = "degrees. 0, the default, is even, and 90 is odd",
     .bounds = kAngles},
    {.name = "--aspect",
     .letters = "A",
     .text = "ratio of sigmas. Along the wave over across; by default 1",
     .bounds = {0.1, 10}}};

const MakerLine kMakers[] = {
    {"gaussian",
     {"--sigma"},
     {},
     [](const FilterValues& values) {
       const double across = values.number("--sigma");
       return gaussian_mask(across, values.second("--sigma", across));
     }},
    {"binomial",
     {"--side"},
     {},
     [](const FilterValues& values) { return binomial_mask(int(values.number("--side"))); }},
    {"disk",
     {"--radius"},
     {},
     [](const FilterValues& values) { return disk_mask(values.number("--radius")); }},
    {"motion",
     {"--length"},
     {"--angle"},
     [](const FilterValues& values) {
       return motion_mask(values.number("--length"), values.number("--angle", 0));
     }},
    {"highpass",
     {"--sigma"},
     {},
     [](const FilterValues& values) { return highpass_mask(values.number("--sigma")); }},
    {"dog",
     {"--sigma", "--outer"},
     {},
     [](const FilterValues& values) {
       return dog_mask(values.number("--sigma"), values.number("--outer"));
     }},
    {"log",
     {"--sigma"},
     {},
     [](const FilterValues& values) { return log_mask(values.number("--sigma")); }},
    {"gabor",
     {"--sigma", "--wavelength"},
     {"--angle", "--phase", "--aspect"},
     [](const FilterValues& values) {
       return gabor_mask({values.number("--sigma"), values.number("--wavelength"),
                          values.number("--angle", 0), values.number("--phase", 0),
                          values.number("--aspect", 1)});
     }}};

}  // namespace

bool MakerLine::takes(const std::string& option) const {
  return std::ranges::count(needs, option) + std::ranges::count(may_have, option) > 0;
}

std::span<const MakerLine> makers() {
  return kMakers;
}

std::vector<FilterOption> maker_options() {
  std::vector<FilterOption> options(std::begin(kOptions), std::end(kOptions));
  for (FilterOption& option : options) {
    Words names;
    for (const MakerLine& maker : kMakers)
      if (maker.takes(option.name)) names.emplace_back(maker.name);
    option.text = listed(names) + ": " + option.text;
  }
  return options;
}

Mask make_mask_of(const std::string& name, const FilterValues& values) {
  require_choice("mask to make", name, words_of(kMakers));
  const MakerLine& maker = *std::ranges::find(kMakers, name, &MakerLine::name);
  for (const std::string& option : maker.needs)
    require(values.has(option), "mask make " + name + ": " + option +
                                    " is missing; convfilt mask --help says what it is");
  const auto sigma = values.numbers.find("--sigma");
  require(name == "gaussian" || sigma == values.numbers.end() || sigma->second.size() == 1,
          "--sigma: only a gaussian has two; give one number");
  return maker.make(values);
}

}  // namespace convfilt
