#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "app/commands.hpp"
#include "app/grammar/commands.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/contract/separable.hpp"
#include "src/auto/choice.hpp"
#include "src/auto/family.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/base/table.hpp"
#include "src/base/terminal.hpp"
#include "src/mask/file.hpp"
#include "src/mask/number.hpp"
#include "src/mask/response.hpp"
#include "src/mask/text.hpp"
#include "src/recipe/picture_mask.hpp"

namespace convfilt {
namespace {

struct MaskCommand : Command {
  std::string action;  ///< check, show or make
  std::string mask;    ///< a path, or a name in filters/; make: of a formula
  std::string output;  ///< show: a path for a picture of the response; empty = drawn as text

  // The picture and the machine for which check says what auto takes.
  Request request;
  int width = 1920, height = 1080, channels = 3;
  std::vector<Depth> depths{std::begin(kDepths), std::end(kDepths)};

  FilterValues values;  ///< of the formula

  void run() override;
};

const Words kActions = {"check", "show", "make"};

constexpr std::size_t kMostShown = 33;  // numbers of a factor
constexpr int kMostRows = 33;           // of a grid of weights
constexpr int kCells = 25;              // of the drawing of a response, along each side
constexpr int kPixels = 257;            // of the picture of one
constexpr double kMostWhole = 1e6;      // from here on a whole number is hard to read
constexpr std::string_view kShades = " .:-=+*#%@";

/// Formats lines of a name and a text.
std::string lines_of(std::vector<Table::Line> lines) {
  return as_text({{}, 2, std::move(lines)});
}

Table::Line line(std::string name, std::string text) {
  return {{std::move(name), std::move(text)}, ""};
}

/// A weight in a few letters: whole as it is, else with four digits.
std::string short_weight(double value) {
  if (value == std::nearbyint(value) && std::abs(value) < kMostWhole) return print_number(value);
  return with_format("%.4g", value);
}

std::string numbers(const std::vector<double>& values) {
  std::string text;
  for (std::size_t k = 0; k < std::min(values.size(), kMostShown); ++k)
    text += (k ? " " : "") + short_weight(values[k]);
  return values.size() <= kMostShown
             ? text
             : text + " ... (" + std::to_string(values.size()) + " numbers)";
}

/// ", over 9" for a divisor other than 1.
std::string over(double divisor) {
  return divisor == 1 ? "" : ", over " + print_number(divisor);
}

/// Decimals in a file become large whole numbers over a divisor; these are divided again, to be
/// read as they were written.
void make_readable(std::vector<double>& weights, double& divisor) {
  if (std::ranges::none_of(weights, [](double w) { return std::abs(w) >= kMostWhole; })) return;
  for (double& weight : weights) weight /= divisor;
  divisor = 1;
}

std::string size_of(const Mask& mask) {
  const auto zeros = std::count(mask.weights.begin(), mask.weights.end(), 0.0);
  std::string text =
      size_text(mask.width, mask.height) + " = " + plural(mask.weights.size(), "weight");
  if (zeros > 0) text += ", of which " + std::to_string(zeros) + (zeros == 1 ? " is 0" : " are 0");
  return text + "; anchor at column " + std::to_string(mask.anchor_x) + ", row " +
         std::to_string(mask.anchor_y) + ", from 0";
}

std::string sum_of(const Mask& mask) {
  const double sum = gain(mask);
  const bool nothing = std::abs(sum) <= 1e-12 * absolute_gain(mask);
  const bool is_one = std::abs(sum - 1) <= 1e-12;
  std::string text = short_weight(nothing ? 0 : is_one ? 1 : sum);
  if (text == "1" && !is_one) text = print_number(sum);  // four digits would hide the difference
  text += nothing  ? ": a constant picture becomes 0"
          : is_one ? ": a constant picture stays as it is"
                   : ": a constant picture becomes " + text + " times as large";
  if (mask.offset != 0) text += ", before the offset";
  if (const double all = absolute_gain(mask); std::abs(all - std::abs(sum)) > 1e-12 * all)
    text += "; magnitudes: " + short_weight(all);
  return text;
}

std::string weights_of(Mask mask) {
  make_readable(mask.weights, mask.divisor);
  const auto [least, most] = std::ranges::minmax(mask.weights);
  const bool whole =
      std::ranges::all_of(mask.weights, [](double w) { return w == std::nearbyint(w); });
  return (whole ? "whole numbers, " : "reals, ") + short_weight(least) + " to " +
         short_weight(most) + over(mask.divisor);
}

/// The rank, and the terms of masks for which two passes may do.
std::vector<Table::Line> rank_of(const Mask& mask) {
  if (absolute_gain(mask) == 0) return {line("rank", "0: all weights are 0")};
  const auto terms = terms_of(mask, kMostTerms, rank_tolerance(Depth::f32));
  const auto in_bytes = terms_of(mask, kMostTerms, rank_tolerance(Depth::u8));
  const std::string text =
      terms.empty()
          ? "above " + std::to_string(kMostTerms) + ": no row pass and column pass make it up"
          : std::to_string(terms.size()) +
                (terms.size() == 1 ? ": a column times a row" : ": a sum of columns times rows");
  std::vector<Table::Line> lines = {line(
      "rank", text + (in_bytes.size() != terms.size() && !in_bytes.empty()
                          ? "; " + std::to_string(in_bytes.size()) + " is near enough for 8 bits"
                          : ""))};
  for (Factors term : terms.empty() ? in_bytes : terms) {
    make_readable(term.row, term.divisor);
    lines.push_back(line("column", numbers(term.column)));
    lines.push_back(line("row", numbers(term.row) + over(term.divisor)));
  }
  return lines;
}

/// An error with two digits that count, however small it is.
std::string error_text(double error) {
  return error >= 1e-3 ? figure(error) : with_format("%.1e", error);
}

std::string integer_text(double error) {
  return error == 0
             ? "exact, as integers"
             : "rounded to fixed point: by at most " + error_text(error) + " of a step in a result";
}

/// `weight_of(i, j)` is a weight as floats have it. Its error is held against the largest weight,
/// since a small weight beside large ones may be lost without harm.
template <class WeightOf>
std::string float_text(const Mask& mask, WeightOf weight_of) {
  double error = 0, largest = 0;
  for (int j = 0; j < mask.height; ++j)
    for (int i = 0; i < mask.width; ++i) {
      const double weight = mask.weight(i, j) / mask.divisor;
      error = std::max(error, std::abs(weight_of(i, j) - weight));
      largest = std::max(largest, std::abs(weight));
    }
  return error == 0 ? "exact, as floats"
                    : "rounded to floats: by at most " + error_text(error / largest) +
                          " of the largest weight";
}

/// The rounding of the weights where they are applied tap by tap.
template <class T>
std::string direct_text(const Mask& mask) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return integer_text(prepare_mask<T>(mask).error);
  } else {
    const PreparedMask<T> prepared = prepare_mask<T>(mask);
    return float_text(mask, [&](int i, int j) {
      return double(prepared.weights[std::size_t(j * mask.width + i)]) * prepared.finish.scale;
    });
  }
}

/// Their rounding where a row pass and a column pass, or up to three of each, apply them.
template <class T>
std::string separable_text(const Mask& mask) {
  const SeparableMask<T> prepared = prepare_separable<T>(mask);
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return integer_text(prepared.error);
  } else {
    return float_text(mask, [&](int i, int j) {
      double weight = 0;
      for (const SeparableTerm<T>& term : prepared.terms)
        weight += double(term.row.weights[std::size_t(i)]) *
                  double(term.column.weights[std::size_t(j)]) * term.column.finish.scale;
      return weight;
    });
  }
}

/// Says how near the arithmetic of a depth comes to the weights of the file, in the family that
/// auto takes.
std::string arithmetic_of(const Problem& problem) {
  if (const std::string refusal = arithmetic_refuses(problem); !refusal.empty())
    return "refused: " + refusal;
  const Family family = family_for(problem);
  if (family == Family::transform)
    return "by transforms, in floats: results within " + std::string(bound_of(family));
  return with_depth(problem.depth, [&]<class T>(TypeTag<T>) {
    return family == Family::separable ? "in two passes " + separable_text<T>(problem.mask)
                                       : direct_text<T>(problem.mask);
  });
}

/// Why no picture of these depths can be filtered with the mask, as the first of them says it;
/// empty where one can.
std::string refusal_of(const Mask& mask, const std::vector<Depth>& depths) {
  std::vector<std::string> refusals;
  Problem problem;
  problem.mask = mask;
  for (const Depth depth : depths) {
    problem.depth = depth;
    refusals.push_back(arithmetic_refuses(problem));
  }
  return std::ranges::count(refusals, "") > 0 ? "" : refusals.front();
}

/// Depths for which `text_of` says the same share a line.
template <class TextOf>
std::vector<Table::Line> by_depth(const std::vector<Depth>& depths, TextOf text_of) {
  std::vector<Table::Line> lines;
  for (const Depth depth : depths) {
    const std::string text = text_of(depth), name(name_of(depth));
    if (!lines.empty() && lines.back().cells[1] == text)
      lines.back().cells[0] += ", " + name;
    else
      lines.push_back(line(name, text));
  }
  return lines;
}

std::string check_text(const Mask& mask, const MaskCommand& command) {
  std::vector<Table::Line> facts = {line("size", size_of(mask)), line("sum", sum_of(mask))};
  if (mask.offset != 0)
    facts.push_back(line("offset", print_number(mask.offset) + ", added at the end"));
  facts.push_back(line("weights", weights_of(mask)));
  if (flipped(mask).weights == mask.weights)
    facts.push_back(line("turned", "by 180 degrees it is the same, so --flip changes no weight"));
  for (Table::Line& fact : rank_of(mask)) facts.push_back(std::move(fact));

  Problem problem;
  problem.width = command.width;
  problem.height = command.height;
  problem.channels = command.channels;
  problem.mask = mask;
  problem.contrast = 1;
  const auto at = [&](Depth depth) {
    problem.depth = depth;
    return arithmetic_of(problem);
  };
  const std::vector<Table::Line> arithmetic = by_depth(command.depths, at);
  const Machine machine = this_machine();
  const auto chosen = [&](Depth depth) -> std::string {
    problem.depth = depth;
    if (!arithmetic_refuses(problem).empty()) return "nothing: the mask is refused";
    const Choice choice = choose(problem, 1, command.request, machine);
    std::string text =
        std::string(choice.strategy->name) + " on " + std::string(name_of(choice.device));
    if (choice.device == DeviceKind::cuda) text += ":" + std::to_string(choice.ordinal);
    return text + " (" + choice.why + ")";
  };
  return mask.name + "\n" + lines_of(facts) + "\nweights by depth, as auto applies them\n" +
         lines_of(arithmetic) + "\nauto takes, for a picture of " +
         size_text(command.width, command.height) + "x" + std::to_string(command.channels) + "\n" +
         lines_of(by_depth(command.depths, chosen));
}

/// The weights, or those around the anchor where all are too many for the terminal.
std::string grid_text(Mask mask, std::size_t columns) {
  make_readable(mask.weights, mask.divisor);
  std::size_t wide = 0;
  for (const double weight : mask.weights) wide = std::max(wide, short_weight(weight).size());
  const int across = std::clamp(int(columns / (wide + 2)), 1, mask.width);
  const int down = std::min(mask.height, kMostRows);
  const int left = std::clamp(mask.anchor_x - across / 2, 0, mask.width - across);
  const int top = std::clamp(mask.anchor_y - down / 2, 0, mask.height - down);
  Table grid;
  for (int j = top; j < top + down; ++j) {
    grid.lines.emplace_back();
    for (int i = left; i < left + across; ++i)
      grid.lines.back().cells.push_back(short_weight(mask.weight(i, j)));
  }
  const bool all = across == mask.width && down == mask.height;
  return mask.name + ": " + (all ? "" : size_text(across, down) + " around the anchor, of ") +
         size_text(mask.width, mask.height) + " weights" + over(mask.divisor) + "\n\n" +
         as_text(grid) + "\n";
}

/// The mask's gains for waves along the axes and the diagonal.
std::string gains_text(const Mask& mask) {
  Table table{{"cycles a pixel", "0", "1/8", "1/4", "3/8", "1/2"}, 1, {}};
  for (const auto& [name, u, v] :
       {std::tuple{"along x", 1, 0}, std::tuple{"along y", 0, 1}, std::tuple{"along both", 1, 1}}) {
    Table::Line row{{name}, ""};
    for (int k = 0; k <= 4; ++k) {
      const double response = response_at(mask, u * k / 8.0, v * k / 8.0);
      const std::string text = with_format("%.3g", response);
      row.cells.push_back(std::abs(std::stod(text)) < 1e-9 ? "0" : text);
    }
    table.lines.push_back(std::move(row));
  }
  return as_text(table);
}

std::string drawing(const std::vector<double>& grid, double most) {
  const std::string edge = "  +" + std::string(2 * kCells, '-') + "+\n";
  std::string text = edge;
  for (int y = 0; y < kCells; ++y) {
    std::string row = "  |";
    for (int x = 0; x < kCells; ++x) {
      const double share = most > 0 ? grid[std::size_t(y * kCells + x)] / most : 0;
      row.append(2, kShades[std::size_t(std::lround(share * double(kShades.size() - 1) - 1e-9))]);
    }
    text += row + "|\n";
  }
  return text + edge;
}

void show(const Mask& mask, const MaskCommand& command) {
  const std::string weights = grid_text(mask, terminal_width(STDOUT_FILENO));
  const std::vector<double> grid = response_grid(mask, command.output.empty() ? kCells : kPixels);
  const double most = *std::ranges::max_element(grid);
  std::string text = weights + "What becomes of a wave's amplitude\n\n" + gains_text(mask) + "\n";
  if (command.output.empty()) {
    text += "Amplitudes of all waves: constants in the middle, 1/2 cycle a pixel at the\nedges; '" +
            std::string(1, kShades.back()) + "' is " + figure(most) + ", blank is 0\n\n" +
            drawing(grid, most);
  } else {
    Image image(kPixels, kPixels, 1, Depth::u8);
    for (int y = 0; y < kPixels; ++y)
      for (int x = 0; x < kPixels; ++x)
        image.view().row(y)[x] =
            std::byte(most > 0 ? std::lround(255 * grid[std::size_t(y * kPixels + x)] / most) : 0);
    write_image(command.output, image, {}, nullptr);
    text += "Amplitudes of all waves are in '" + printable_name(command.output) +
            "': constants in the middle,\n1/2 cycle a pixel at the edges; white is " +
            figure(most) + ", black is 0\n";
  }
  print_text(text);
}

void MaskCommand::run() {
  if (!output.empty()) {
    check_keeps_mask(mask, output);
    check_output(mask, output, {}, true);
  }
  if (action == "make") return print_result(print_mask(make_mask_of(mask, values)));
  const Mask loaded = only_mask(text_or_picture_masks(mask), mask);
  if (action == "show") return show(loaded, *this);
  print_text(check_text(loaded, *this));
  if (const std::string refusal = refusal_of(loaded, depths); !refusal.empty())
    throw UsageError("mask " + in_quotes(loaded.name) + ": " + refusal);
}

void declare(Binder& binder, MaskCommand& command) {
  binder.positional("ACTION", command.action,
                    "What to do. check prints facts, and what auto takes; show draws weights and "
                    "response; make prints a mask by formula, as text",
                    true, kActions);
  binder.positional("MASK", command.mask,
                    "A file, or a name (convfilt list masks). A text or a picture; with make, " +
                        listed(words_of(mask_lines()), "or"));
  binder.group("For check", true);
  const auto read_size = [&](const std::string& word) {
    const Extent size = size_in(word);
    check_pixels(size, ReadOptions{}.max_pixels);
    command.width = int(size.width);
    command.height = int(size.height);
  };
  binder.option("--size", "WxH", read_size,
                "Size of the picture that auto is asked about (default 1920x1080)");
  binder.list("--depth", command.depths, choices_of(kDepths),
              "Depths of its samples (default: each). Commas between");
  binder.choice("--channels", command.channels, kChannels, "1, or 3 for colour");
  binder.option("--device", "NAME", command.request.device, "Where to compute (default auto)",
                device_names());
  binder.group("For show", true);
  binder.option("--output", "FILE", command.output,
                "Write a picture of the response instead of the drawing");
  binder.group("For make", true);
  for (const FilterOption& option : mask_options()) declare(binder, option, command.values);
  binder.then([&command] {
    require_choice("action", command.action, kActions);
    if (command.action == "check") return check_names(command.request, this_machine());
    require(command.output != "-",
            "--output: the text goes to standard output; name a file, e.g. --output response.png");
    require(command.output.empty() || !extension_of(command.output).empty(),
            "--output: " + in_quotes(command.output) +
                " has no suffix that says the format; write e.g. " +
                in_quotes(command.output + ".png"));
  });
}

}  // namespace

const OtherCommand kMask{
    {"mask", "Describe a mask: size, rank, exactness, response; or make one",
     "Check a mask: size, rank, exactness, and what auto takes for it; show its\n"
     "weights, and how it passes waves of each frequency; or print one by a formula.\n",
     "  convfilt mask check my-mask.txt\n"
     "  convfilt mask check gaussian7 --size 8192x8192 --depth u16\n"
     "  convfilt mask show sobel_x\n"
     "  convfilt mask show log5 --output log5-response.png\n"
     "  convfilt mask make gabor --sigma 4 --wavelength 8 --angle 45 >gabor.txt\n"},
    declare_as<MaskCommand>};

}  // namespace convfilt
