#include "app/compare_options.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "app/grammar.hpp"
#include "src/base/sides.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/compare/plot.hpp"
#include "src/picture/formats.hpp"

namespace convfilt {
namespace {

constexpr int kMostRepeats = 100'000;

constexpr double kLeastPatience = 0.001, kMostPatience = 3600;  // seconds

/// The words of a list with commas between, at least one; each once.
Words listed_in(const std::string& option, const std::string& list) {
  Words words;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    const std::string word = list.substr(from, comma - from);
    require(!word.empty(), option + ": something is missing beside a comma; write a,b,c");
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    from = comma + 1;
  }
  return words;
}

/// Those of `things` whose names the list has, in its order.
template <class Things>
auto named_in(const std::string& kind, const std::string& list, const Things& things) {
  std::vector<std::remove_cvref_t<decltype(*std::begin(things))>> found;
  for (const std::string& word : listed_in("--" + kind, list)) {
    require_choice(kind, word, words_of(things));
    for (const auto& thing : things)
      if (word == name_of(thing)) found.push_back(thing);
  }
  return found;
}

Extent size_in(const std::string& word, std::int64_t most) {
  const auto sides = parse_sides(word);
  require(sides.has_value(),
          "--size: " + convfilt::quoted(word) + " is no size; write WxH, e.g. 2048x2048");
  require(sides->width >= 1 && sides->height >= 1 && sides->width <= most / sides->height,
          "--size: " + convfilt::quoted(word) + ": a picture has 1 to " + std::to_string(most) +
              " pixels");
  return *sides;
}

void read_noise(CompareCommand& command) {
  const auto& words = command.words;
  if (!command.in.empty()) {
    require(!words.size, "--size: the size of IN is compared; leave out one of the two");
    require(!words.depth, "--depth: the depth of IN is compared; leave out one of the two");
    require(!words.channels, "--channels: those of IN are compared; leave out one of the two");
  }
  if (words.size) {
    command.sizes.clear();
    for (const std::string& word : listed_in("--size", *words.size))
      command.sizes.push_back(size_in(word, command.read.max_pixels));
  }
  if (words.depth) command.depths = named_in("depth", *words.depth, kDepths);
  if (!words.channels) return;
  command.channels.clear();
  for (const std::string& word : listed_in("--channels", *words.channels)) {
    command.channels.push_back(number_in<int>("--channels", word));
    require(command.channels.back() == 1 || command.channels.back() == 3, "--channels: 1 or 3");
  }
}

/// One side stands for a square.
Extent mask_sides_in(const std::string& word) {
  const auto sides = parse_sides(word.find_first_of("xX") == word.npos ? word + "x" + word : word);
  require(sides && sides->width >= 1 && sides->height >= 1 && sides->width <= kMaxMaskSide &&
              sides->height <= kMaxMaskSide,
          "--masks: " + convfilt::quoted(word) +
              " is no side of a mask; write whole numbers, 1 to " + std::to_string(kMaxMaskSide) +
              ", e.g. 3,5x7,31" +
              (sides || word.find_first_not_of("0123456789") == word.npos
                   ? ""
                   : "; --mask takes files and filters"));
  return *sides;
}

void read_masks(CompareCommand& command) {
  const auto& words = command.words;
  if (!words.masks && command.masks.empty()) command.masks = {"3x3", "9x9", "31x31"};
  require(words.masks || !words.weights,
          "--weights: only random masks have a choice of them; add --masks, e.g. --masks 3,5,7");
  if (!words.masks) return;
  std::vector<Weights> weights = {Weights::bits16};
  if (words.weights) weights = named_in("weights", *words.weights, kWeights);
  for (const Weights kind : weights)
    for (const std::string& word : listed_in("--masks", *words.masks))
      command.random_masks.push_back({kind, mask_sides_in(word)});
}

bool has_many_pictures(const CompareCommand& command) {
  return command.sizes.size() * command.depths.size() * command.channels.size() > 1;
}

/// Many pictures or random masks make a sweep.
TableKind usual_table(const CompareCommand& command) {
  const bool sweep = has_many_pictures(command) || !command.random_masks.empty();
  return sweep ? TableKind::brief : TableKind::full;
}

void read_table(CompareCommand& command) {
  if (!command.words.table) return;
  require_choice("table", *command.words.table, words_of(kTableKinds));
  for (const TableKind kind : kTableKinds)
    if (*command.words.table == name_of(kind)) command.table = kind;
}

/// Throws UsageError where two outputs would mix on standard output.
void check_outputs(const CompareCommand& command) {
  const std::string* const paths[] = {&command.json, &command.csv, &command.markdown};
  const auto to_stdout = std::count_if(std::begin(paths), std::end(paths),
                                       [](const std::string* path) { return *path == "-"; });
  require(to_stdout <= 1,
          "--json, --csv, --markdown: one of them goes to standard output; write the others to "
          "files, e.g. --json=FILE");
  const std::string end = extension_of(command.in);
  require(end != "json" && end != "csv" && end != "md",
          "IN is a picture, not " + convfilt::quoted(command.in) +
              "; a file to be written is joined by '=', e.g. --json=" + command.in);
  require_choice("chart", command.plot_kind, words_of(kPlotKinds));
}

}  // namespace

void declare(Grammar& grammar, CompareCommand& command) {
  grammar.positional("IN", command.in, "Picture to filter; - is standard input (default: noise)",
                     false);
  const char* what = "What to compare";
  grammar.repeated(what, "--mask", "MASK", command.masks,
                   "A file, a filter's name, or WxH for a\nGaussian with sigma side/6; may come "
                   "several times\n(default 3x3, 9x9 and 31x31)");
  grammar.option(what, "--masks", "LIST", command.words.masks,
                 "Random masks by their sides: 3,5x7,31");
  grammar.choice(what, "--weights", command.words.weights,
                 "Of --masks, commas between (default 16bit)", words_of(kWeights), "LIST");
  grammar.option(
      what, "--strategies", "LIST", command.words.strategies,
      "Names, commas between, with settings:\nbasic,tiled-out:tile=16:halo=two-step\n(default: "
      "all)");
  grammar.option(what, "--size", "LIST", command.words.size,
                 "Of the noise, WxH, commas between\n(default 2048x2048)");
  grammar.choice(what, "--depth", command.words.depth, "Of the noise, commas between (default u8)",
                 words_of(kDepths), "LIST");
  grammar.option(what, "--channels", "LIST", command.words.channels,
                 "Of the noise, 1, 3 or both, a comma between\n(default 1)");
  grammar.option(what, "--repeats", "N", command.words.repeats,
                 "Runs a row, at most (default 21); fewer, but 3,\nwhere they take longer than "
                 "patience lasts, and one on\na GPU where that alone does");
  grammar.option(
      what, "--patience", "S", command.words.patience,
      "Seconds for a row's runs (default 1); off the GPU, if\none takes longer, a piece "
      "of the picture is run.\nFour times as long for the bytes to hold results against");
  grammar.border_options();
  grammar.device_options(command.convolver.request);

  const char* outputs = "Results";
  grammar.option(
      outputs, "--from", "FILE", command.from,
      "Measure nothing: take what an earlier run wrote\nwith --json=FILE, e.g. to draw it");
  for (const auto& [name, path, text] :
       {std::tuple{"--json", &command.json, "As JSON, instead of the table, or to FILE"},
        std::tuple{"--csv", &command.csv, "As CSV, a line a row, likewise"},
        std::tuple{"--markdown", &command.markdown, "As Markdown, likewise"}})
    grammar.output(outputs, name, *path, text);
  grammar.choice(outputs, "--table", command.words.table,
                 "All figures, or a column a mask (default brief\nfor several pictures or --masks)",
                 words_of(kTableKinds));
  grammar.option(outputs, "--plot", "FILE", command.plot, "A chart, .svg or .png; needs gnuplot");
  grammar.choice(outputs, "--plot-kind", command.plot_kind, "What it shows (default bars)",
                 words_of(kPlotKinds));
  grammar.message_options();
}

void check(CompareCommand& command, const Raw& raw) {
  command.loudness = loudness_of(raw);
  read_table(command);
  if (!command.from.empty()) {
    const auto& words = command.words;
    require(command.in.empty() && !words.size && !words.depth && !words.channels && !words.masks &&
                !words.weights && !words.strategies && !words.repeats && !words.patience &&
                !raw.threads && !raw.border && !raw.border_value && raw.mode == Raw{}.mode &&
                raw.pitch == Raw{}.pitch && command.convolver.request.device == Request{}.device &&
                command.masks.empty(),
            "--from: nothing is measured; leave out IN and what says what to measure");
    return check_outputs(command);
  }
  complete_request(command.convolver.request, raw);
  complete_border(command.convolver, raw);
  complete_pitch(command.convolver, raw);
  read_noise(command);
  read_masks(command);
  if (!command.table) command.table = usual_table(command);
  check_outputs(command);
  require(!command.plot || !has_many_pictures(command), std::string("--plot: ") + kOnePicture);

  const Machine machine = this_machine();
  CompareOptions& compare = command.compare;
  compare.contenders = command.words.strategies
                           ? parse_contenders(*command.words.strategies, machine)
                           : all_contenders(machine);
  compare.device = command.convolver.request.device;
  compare.threads = command.convolver.request.threads;
  compare.padded_pitch = command.convolver.padded_pitch;
  compare.repeats = command.words.repeats.value_or(compare.repeats);
  require(compare.repeats >= 3 && compare.repeats <= kMostRepeats,
          "--repeats: a whole number, 3 to " + std::to_string(kMostRepeats));
  const double patience = command.words.patience.value_or(compare.row_patience);
  require(patience >= kLeastPatience && patience <= kMostPatience,
          "--patience: seconds, 0.001 to 3600");
  compare.reference_patience *= patience / compare.row_patience;
  compare.row_patience = patience;
}

}  // namespace convfilt
