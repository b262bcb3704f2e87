#include "src/recipe/table.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/filter/edge.hpp"
#include "src/filter/mask.hpp"
#include "src/filter/sharpen.hpp"
#include "src/mask/make.hpp"
#include "src/mask/shapes.hpp"
#include "src/recipe/picture_mask.hpp"

namespace convfilt {
namespace {

constexpr Bounds<double> kAngles{-360, 360};

FilterOption number(const char* name, const char* letters, std::optional<double> usual,
                    const Bounds<double>& bounds, const char* text) {
  return {name, letters, text, bounds, usual};
}

FilterOption whole(const char* name, const char* letters, std::optional<double> usual,
                   const Bounds<double>& bounds, const char* text) {
  return {name, letters, text, bounds, usual, true};
}

/// A number with a second one behind the mark.
FilterOption pair(FilterOption option, char mark, const Bounds<double>& second) {
  option.mark = mark;
  option.second = second;
  return option;
}

FilterOption word(const char* name, const Words& words, const char* text) {
  return {.name = name, .letters = "NAME", .text = text, .words = words};
}

FilterOption mask_argument() {
  return {.name = "MASK",
          .letters = "MASK",
          .text =
              "A file, or a name (convfilt list masks). A text of numbers, or a picture, whose "
              "weights are its luma over their sum"};
}

Mask blur_mask(const FilterValues& values) {
  if (values.has("--box")) return box_mask(int(values.number("--box")));
  if (values.has("--binomial")) return binomial_mask(int(values.number("--binomial")));
  if (values.has("--disk")) return disk_mask(values.number("--disk"));
  if (values.has("--motion"))
    return motion_mask(values.number("--motion"), values.second("--motion", 0));
  const double across = values.number("--sigma");
  return gaussian_mask(across, values.second("--sigma", across));
}

FilterPtr sharpen(const FilterValues& values) {
  const double sigma = values.number("--sigma");
  SharpenOptions options{
      values.number("--amount"), values.number("--threshold"), {}, int(std::ceil(sigma))};
  if (values.has("--halo-limit")) options.halo_limit = values.number("--halo-limit");
  if (options.threshold > 0 || options.halo_limit)
    return sharpen_filter(values.finished(gaussian_mask(sigma)), options);
  return mask_filter(values.finished(sharpen_mask(options.amount, sigma)));
}

/// One clash for each pair of options that exclude each other.
std::vector<Clash> one_of(const Words& options, const std::string& rule) {
  std::vector<Clash> clashes;
  for (std::size_t i = 0; i < options.size(); ++i)
    for (std::size_t j = i + 1; j < options.size(); ++j)
      clashes.push_back({options[i], options[j], options[i] + ", " + options[j] + ": " + rule});
  return clashes;
}

constexpr const char* kNoFull =
    "--threshold, --halo-limit: they sharpen the picture's own pixels; leave out --mode=full";

/// Canny's thresholds.
constexpr double kLow = 20, kHigh = 60;

FilterPtr find_edges_of(const FilterValues& values) {
  EdgeMasks masks;
  masks.method = meaning_of("--method", values.word("--method"), choices_of(kEdgeMethods));
  masks.direction =
      meaning_of("--direction", values.word("--direction"), choices_of(kEdgeDirections));
  masks.sigma = values.number("--sigma");
  masks.gain = values.number("--gain");
  EdgeOptions options{kind_of(masks.method), masks.direction, values.flag("--color"),
                      values.flag("--thin")};
  masks.by_crossings = options.thin && options.kind == EdgeKind::curvature;
  if (values.has("--threshold")) options.threshold = values.number("--threshold");
  if (masks.method == EdgeMethod::canny) {
    options.thin = true;
    options.threshold = values.has("--high") ? values.number("--high") : kHigh;
    options.low = values.has("--low") ? values.number("--low") : std::min(kLow, *options.threshold);
    require(*options.low <= *options.threshold,
            "--low " + shown(*options.low) + ": it is above --high " + shown(*options.threshold) +
                "; give one up to that");
  }
  std::vector<Mask> all = edge_masks(masks);
  if (values.flip)
    for (Mask& mask : all) mask = flipped(mask);
  if (options.kind == EdgeKind::compass && masks.sigma > 0) {
    options.factors = factors_of(masks);
    for (Mask& mask : options.factors->sharp)
      if (values.flip) mask = flipped(mask);
  }
  return edge_filter(std::move(all), options);
}

/// Names of methods of that kind, or of all but canny.
std::string methods_of(std::initializer_list<EdgeKind> kinds) {
  return those(kEdgeMethods,
               [&](EdgeMethod method) { return std::ranges::count(kinds, kind_of(method)) > 0; });
}
std::string all_but_canny() {
  return those(kEdgeMethods, [](EdgeMethod method) { return method != EdgeMethod::canny; });
}

FilterOption flag(const char* name, const char* text) {
  return {.name = name, .text = text};
}

constexpr const char* kOfCanny =
    "--low, --high: only --method=canny has them; --threshold is for all others";

// A filter is one entry: its name, what help says, its options, what makes it, and which of its
// options exclude each other, if any do.
const auto& kFilters = *new const std::vector<FilterLine>{
    {{"blur", "Blur: Gaussian, box, disk, motion, binomial",
      "Blur a picture with a Gaussian, a box, a disk, a line or binomial weights.\n",
      "  convfilt blur photo.jpg soft.jpg                 Gaussian, sigma 2\n"
      "  convfilt blur photo.jpg backdrop.jpg --sigma 40\n"
      "  convfilt blur photo.jpg lens.jpg --disk 8        out of focus\n"
      "  convfilt blur photo.jpg fast.jpg --motion 25@30  a camera that moves\n"
      "  convfilt blur scan.tif mean.tif --box 9          mean of 9x9 pixels\n"
      "  convfilt blur photos/ out/ -r                    a folder, and those in it\n"},
     {pair(number("--sigma", "X[,Y]", 2, {0, kMaxSigma, true},
                  "Sigma of the Gaussian, in pixels. Y is for columns, if it differs; one of two "
                  "may be 0"),
           ',', {0, kMaxSigma}),
      whole("--box", "N", {}, {1, kMaxMaskSide}, "Mean of a box of NxN pixels"),
      number("--disk", "RADIUS", {}, {0.5, kMaxDiskRadius},
             "Mean of a disk, as a lens has it. Pixels at the rim count by the share that lies "
             "inside"),
      pair(
          number("--motion", "LENGTH[@A]", {}, {1, kMaxMotion},
                 "Mean along a line, like motion blur. The line is a pixel wide; A is its angle in "
                 "degrees, counter-clockwise from a row (default 0)"),
          '@', kAngles),
      whole("--binomial", "N", {}, {1, kMaxBinomialSide},
            "Binomial weights for NxN pixels. They are nearly a Gaussian, of sigma "
            "sqrt(N - 1) / 2")},
     [](const FilterValues& values) { return mask_filter(values.finished(blur_mask(values))); },
     one_of({"--sigma", "--box", "--disk", "--motion", "--binomial"},
            "a blur has one of the two; leave out the other")},
    {{"sharpen", "Unsharp mask: add what a blur takes away",
      "Sharpen a picture by an unsharp mask: add A times what a Gaussian blur takes\n"
      "away.\n",
      "  convfilt sharpen photo.jpg crisp.jpg\n"
      "  convfilt sharpen photo.jpg crisp.jpg --amount 0.5\n"
      "  convfilt sharpen night.jpg crisp.jpg --threshold 3 --halo-limit 10\n"
      "  convfilt sharpen scan.png local.png --sigma 10   contrast of larger things\n"},
     {number("--amount", "A", 1, {0, kMaxAmount}, "How much to add"),
      number("--sigma", "S", 1, {0, kMaxSigma, true}, "Size of the details, in pixels"),
      number(
          "--threshold", "T", 0, {0, 255},
          "Differences up to T are not sharpened, so noise is not. Of larger ones, only the part "
          "above T counts: add A * (d - T), where d is the sample minus the blur. T is in steps "
          "of 8 bits: 257 T for 16 bits, T/255 for floats"),
      number(
          "--halo-limit", "P", {}, {0, 1000},
          "Percent by which results may leave the range of their neighbours. It is of the distance "
          "from the least to the largest of the samples within S pixels, rounded up")},
     sharpen,
     {{"--threshold", "--mode=full", kNoFull},
      {"--halo-limit", "--mode=full", kNoFull},
      {"--codec=gpu", "--threshold"},
      {"--codec=gpu", "--halo-limit"}}},
    {{"edge", "Find edges: Sobel, Scharr, Laplacian, Canny and others",
      "Find edges: bright where brightness changes fast, black where it does not.\n",
      "  convfilt edge photo.jpg edges.png                length of the Sobel gradient\n"
      "  convfilt edge photo.jpg coarse.png --sigma 3\n"
      "  convfilt edge photo.jpg lines.png --method canny\n"
      "  convfilt edge photo.jpg clear.png --method scharr --thin --threshold 40\n"
      "  convfilt edge photo.jpg blobs.png --method log --sigma 4\n"
      "  convfilt edge photo.jpg tinted.png --color --sigma 0 --gain 4\n"},
     {word("--method", words_of(kEdgeMethods),
           "Masks that find edges. kirsch and robinson are compasses: the strongest of eight. "
           "laplacian, log and dog are second derivatives. canny: thin edges of sobel that are "
           "above --high, or above --low and touch those"),
      number("--sigma", "S", 1, {0, kMaxEdgeSigma},
             "Sigma of the smoothing. It is a Gaussian in pixels, as part of each mask; 0: there "
             "is none"),
      number("--gain", "G", EdgeMasks{}.gain, {0, 1000, true},
             "Gain at a step. An upright step of height h between two columns gets G * h "
             "where it is brightest, whatever the method and sigma. At sigma 1, slanted steps get "
             "3 % less to 4 % more; roberts and kirsch up to 13 % less, robinson 5 % either way, "
             "laplacian, log and dog 6 % less to 13 % more"),
      word("--direction", words_of(kEdgeDirections),
           "Direction. x finds changes along rows, y along columns. angle shows, on edges alone, "
           "in which direction it gets brighter: 0 to the full range for 0 to 360 degrees, "
           "counter-clockwise from a row. hue is this angle as a colour of HSV, as bright as the "
           "edge: red (255,0,0) if it gets brighter to the right, 128,255,0 upwards, cyan "
           "(0,255,255) to the left, 128,0,255 downwards"),
      flag("--color",
           "Each colour by itself, instead of luma. Textbooks' masks: add --sigma 0 and --gain 4 "
           "for sobel, 16 for scharr, 3 for prewitt, 1 for laplacian"),
      number("--threshold", "T", {}, {0, 255},
             "White from T on, black below. T is in steps of 8 bits: 257 T for 16 bits, T/255 for "
             "floats. PNG and TIFF hold such a grey result, and that of canny, in one bit a "
             "sample, unless --depth, --linear, --output or --region is given"),
      flag("--thin",
           "Lines of one pixel: where edges are strongest. Those of second derivatives are zero "
           "crossings"),
      number("--low", "T", {}, {0, 255},
             "Low threshold of canny. From it on, what touches an edge is one; by default 20"),
      number("--high", "T", {}, {0, 255},
             "High threshold of canny. From it on there is an edge; by default 60")},
     find_edges_of,
     {{"--color=true", "--luma=true", "--color, --luma: leave out one of the two"},
      {"--normalize=true", "--method=" + those(kEdgeMethods, [](auto) { return true; }),
       "--normalize: --gain scales edges; leave out --normalize", "sobel"},
      {"--sigma=0", "--method=log|dog"},
      {"--direction=x|y", "--method=" + methods_of({EdgeKind::compass, EdgeKind::curvature})},
      {"--direction=angle|hue", "--method=" + methods_of({EdgeKind::curvature})},
      {"--direction=hue", "--color=true",
       "--direction=hue: colours show directions of luma; leave out --color"},
      {"--direction=angle|hue", "--linear=true",
       "--direction=angle, --direction=hue: directions are not amounts of light; leave out "
       "--linear"},
      {"--direction=hue", "--output=abs|signed",
       "--direction=hue: colours show directions; leave out --output"},
      {"--low", "--method=" + all_but_canny(), kOfCanny, "sobel"},
      {"--high", "--method=" + all_but_canny(), kOfCanny, "sobel"},
      {"--threshold", "--method=canny", "--threshold: canny has --low and --high; leave it out"},
      {"--codec=gpu", "--direction=angle|hue"},
      {"--codec=gpu", "--method=canny"}}},
    {{"apply", "Apply any mask: from a text file, or a mask by name",
      "Apply a mask: a text file of numbers, a row on each line; a picture; or a mask\n"
      "by name.\n",
      "  convfilt apply emboss3 photo.jpg relief.png\n"
      "  convfilt apply my-mask.txt photo.jpg out.png     grammar: filters/README.md\n"
      "  convfilt apply psf.png photo.jpg out.jpg --flip  luma of a picture, convolved\n"
      "  convfilt apply gaussian5 photo.png out.png --strategy tiled-in -v\n"
      "A file may have several masks, and says how to combine their responses.\n"},
     {mask_argument()},
     [](const FilterValues& values) {
       MaskSet set = text_or_picture_masks(values.word("MASK"));
       for (Mask& mask : set.masks) mask = values.finished(std::move(mask));
       return set.masks.size() == 1 ? mask_filter(std::move(set.masks[0]))
                                    : combined_filter(std::move(set));
     }},
    {{"run", "Several filters in a row",
      "Apply several filters, one after another. Between them samples are floats,\n"
      "neither rounded nor clamped.\n",
      "  convfilt run 'blur --sigma 1.4 | edge --method scharr --thin' in.jpg out.png\n"
      "  convfilt run recipe.txt photos/ out/ -r          a step a line\n"
      "Steps are blur, sharpen, edge and apply, with the options that only they have,\n"
      "--flip and --normalize. All other options are for the whole.\n"},
     {{.name = "RECIPE",
       .letters = "RECIPE",
       .text = "Steps with | between them, or a file with a step on each line. # begins a comment. "
               "Masks are looked for in the current folder. Your file of defaults does not reach "
               "steps; a file called like a filter is ./blur"}},
     nullptr},
};

const auto& kMaskOptions = *new const std::vector<FilterOption>{
    pair(number("--sigma", "X[,Y]", {}, {0, kMaxSigma, true},
                "pixels. Y is for columns, and gaussian alone has it; one of two may be 0"),
         ',', {0, kMaxSigma}),
    number("--outer", "S", {}, {0, kMaxSigma, true}, "pixels. The sigma of what is taken away"),
    whole("--side", "N", {}, {1, kMaxBinomialSide}, "pixels"),
    number("--radius", "R", {}, {0.5, kMaxDiskRadius}, "pixels"),
    number("--length", "L", {}, {1, kMaxMotion}, "pixels"),
    number("--angle", "A", 0, kAngles, "degrees. Counter-clockwise from a row"),
    number("--wavelength", "L", {}, {2, kMaxMaskSide}, "pixels"),
    number("--phase", "P", 0, kAngles, "degrees. 0 is even, and 90 is odd"),
    number("--aspect", "A", 1, {0.1, 10}, "ratio of sigmas. Along the wave over across"),
};

using Numbers = std::vector<double>;

const auto& kMasks = *new const std::vector<MaskLine>{
    {"gaussian", {"--sigma"}, [](const Numbers& n) { return gaussian_mask(n.front(), n.back()); }},
    {"binomial", {"--side"}, [](const Numbers& n) { return binomial_mask(int(n[0])); }},
    {"disk", {"--radius"}, [](const Numbers& n) { return disk_mask(n[0]); }},
    {"motion", {"--length", "--angle"}, [](const Numbers& n) { return motion_mask(n[0], n[1]); }},
    {"highpass", {"--sigma"}, [](const Numbers& n) { return highpass_mask(n[0]); }},
    {"dog", {"--sigma", "--outer"}, [](const Numbers& n) { return dog_mask(n[0], n[1]); }},
    {"log", {"--sigma"}, [](const Numbers& n) { return log_mask(n[0]); }},
    {"gabor",
     {"--sigma", "--wavelength", "--angle", "--phase", "--aspect"},
     [](const Numbers& n) {
       return gabor_mask({n[0], n[1], n[2], n[3], n[4]});
     }},
};

/// Options of every filter of masks.
constexpr std::string_view kFlip = "--flip", kNormalize = "--normalize";

/// Reads the option's number, and the second one behind its mark.
std::vector<double> numbers_of(const FilterOption& option, const std::string& word) {
  auto [least, most, above] = option.bounds;
  if (option.is_whole)
    return {double(number_in<int>(option.name, word, {int(least), int(most), above}))};
  const std::size_t mark = option.mark ? word.find(option.mark) : word.npos;
  if (mark == word.npos) return {number_in(option.name, word, option.bounds)};
  if (option.mark == ',') above = false;  // one of a pair may be 0
  return {number_in<double>(option.name, word.substr(0, mark), {least, most, above}),
          number_in(option.name, word.substr(mark + 1), option.second)};
}

bool flag_in(const std::string& name, const std::string& word) {
  require(word == "true" || word == "false",
          in_quotes(name + "=" + word) + ": " + name + " takes no value; write it alone");
  return word == "true";
}

/// The names of options that the filter has.
Words options_of(const FilterLine& line) {
  Words names;
  for (const FilterOption& option : line.options)
    if (!option.is_argument()) names.push_back(option.name);
  names.insert(names.end(), {std::string(kFlip), std::string(kNormalize)});
  return names;
}

/// The values that a filter's words give its options and arguments.
Values values_of(const FilterLine& line, const Words& words) {
  const std::string help =
      "; convfilt " + std::string(line.help.name) + " --help shows what it takes";
  Values given;
  Words arguments;
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (word->size() < 2 || !word->starts_with('-')) {
      arguments.push_back(*word);
      continue;
    }
    const std::size_t sign = word->find('=');
    const std::string name = word->substr(0, sign);
    if (!line.has(name)) throw UsageError(unknown_option(name, options_of(line), line.help.name));
    require(!given.contains(name), name + " is given twice; give it once");
    const auto option = std::ranges::find(line.options, name, &FilterOption::name);
    const bool is_flag = option == line.options.end() || option->is_flag();
    if (sign != word->npos) {
      require(sign + 1 < word->size() || !is_flag,
              in_quotes(*word) + ": " + name + " takes no value; write it alone");
      given[name] = word->substr(sign + 1);
    } else if (is_flag) {
      given[name] = "true";
    } else {
      require(word + 1 != words.end() && !line.has(word[1].substr(0, word[1].find('='))),
              name + ": its value is missing" + help);
      given[name] = *++word;
    }
  }
  auto next = arguments.begin();
  for (const FilterOption& option : line.options) {
    if (!option.is_argument()) continue;
    require(next != arguments.end(), option.name + " is missing" + help);
    given[option.name] = *next++;
  }
  if (next != arguments.end()) throw UsageError("unexpected argument " + in_quotes(*next) + help);
  for (const auto& [name, value] : given)
    require(!value.empty(), name + " is empty; give it a value, or leave it out");
  return given;
}

}  // namespace

void FilterOption::set_default(FilterValues& values) const {
  if (is_flag()) values.flags[name] = false;
  if (!words.empty()) values.words[name] = words.front();
  if (usual) values.numbers[name] = {*usual};
}

void FilterOption::read(const std::string& word, FilterValues& values) const {
  if (is_flag()) {
    values.flags[name] = flag_in(name, word);
  } else if (is_argument()) {
    values.words[name] = word;
  } else if (!words.empty()) {
    if (std::ranges::count(words, word) == 0) throw unknown_word(name, word, words);
    values.words[name] = word;
  } else {
    values.numbers[name] = numbers_of(*this, word);
  }
}

bool FilterLine::has(std::string_view option) const {
  return option == kFlip || option == kNormalize ||
         (option.starts_with("-") && std::ranges::count(options, option, &FilterOption::name) > 0);
}

FilterPtr FilterLine::make_of(const Words& words, const Values& given, FilterValues* read) const {
  FilterValues values;
  Values all = values_of(*this, words);
  for (const FilterOption& option : options) {
    option.set_default(values);
    if (const auto found = all.find(option.name); found != all.end())
      option.read(found->second, values);
  }
  const auto flag = [&](std::string_view name) {
    const auto found = all.find(std::string(name));
    return found != all.end() && flag_in(found->first, found->second);
  };
  values.flip = flag(kFlip);
  values.normalize = flag(kNormalize);
  all.insert(given.begin(), given.end());
  check_clashes(clashes, all);
  if (read) *read = values;
  return make(values);
}

std::string unknown_option(const std::string& word, const Words& known, std::string_view command) {
  const std::string near = nearest(word, known);
  return "unknown option " + in_quotes(word) +
         (near.empty() ? "; convfilt " + std::string(command) + " --help lists them"
                       : "; did you mean '" + near + "'?");
}

const FilterLine* find_filter(std::string_view name) {
  const auto line = std::ranges::find_if(filters(), [&](const FilterLine& each) {
    return !each.is_chain() && each.help.name == name;
  });
  return line == filters().end() ? nullptr : &*line;
}

Mask FilterValues::finished(Mask mask) const {
  if (normalize) mask = normalized(mask);
  if (flip) mask = flipped(mask);
  return mask;
}

std::span<const FilterLine> filters() {
  return kFilters;
}

std::span<const MaskLine> mask_lines() {
  return kMasks;
}

std::vector<FilterOption> mask_options() {
  std::vector<FilterOption> options = kMaskOptions;
  for (FilterOption& option : options) {
    Words names;
    for (const MaskLine& line : kMasks)
      if (!line.lacks(option.name)) names.emplace_back(line.name);
    option.text = listed(names) + ": " + option.text;
  }
  return options;
}

Mask make_mask_of(const std::string& name, const FilterValues& values) {
  require_choice("mask to make", name, words_of(kMasks));
  const MaskLine& line = *std::ranges::find(kMasks, name, &MaskLine::name);
  Numbers numbers;
  for (const std::string& option : line.options) {
    require(values.has(option), "mask make " + name + ": " + option +
                                    " is missing; convfilt mask "
                                    "--help says what it is");
    const Numbers& own = values.numbers.find(option)->second;
    require(own.size() == 1 || name == "gaussian",
            option + ": only a gaussian has two; give one number");
    numbers.insert(numbers.end(), own.begin(), own.end());
  }
  return line.make(numbers);
}

}  // namespace convfilt
