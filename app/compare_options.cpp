#include "compare_options.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>

#include "compare_plot.hpp"
#include "formats.hpp"
#include "grammar.hpp"
#include "sides.hpp"
#include "source_text.hpp"
#include "suggest.hpp"

namespace convfilt {
namespace {

constexpr int kMostRepeats = 100'000;

void read_noise(CompareCommand& command) {
  const auto& words = command.words;
  if (!command.in.empty()) {
    require(!words.size, "--size: the size of IN is compared; leave out one of the two");
    require(!words.depth, "--depth: the depth of IN is compared; leave out one of the two");
    require(!words.channels, "--channels: those of IN are compared; leave out one of the two");
  }
  if (words.size) {
    const auto sides = parse_sides(*words.size);
    require(sides.has_value(),
            "--size: " + convfilt::quoted(*words.size) + " is no size; write WxH, e.g. 2048x2048");
    const std::int64_t most = command.read.max_pixels;
    require(sides->width >= 1 && sides->height >= 1 && sides->width <= most / sides->height,
            "--size: " + convfilt::quoted(*words.size) + ": a picture has 1 to " +
                std::to_string(most) + " pixels");
    command.width = int(sides->width);
    command.height = int(sides->height);
  }
  if (words.depth) {
    require_choice("depth", *words.depth, words_of(kDepths));
    for (const Depth depth : kDepths)
      if (*words.depth == name_of(depth)) command.depth = depth;
  }
  command.channels = words.channels.value_or(1);
  require(command.channels == 1 || command.channels == 3, "--channels: 1 or 3");
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
  grammar.option(
      what, "--strategies", "LIST", command.words.strategies,
      "Names, commas between, with settings:\nbasic,tiled-out:tile=16:halo=two-step\n(default: "
      "all)");
  grammar.option(what, "--size", "WxH", command.words.size, "Of the noise (default 2048x2048)");
  grammar.choice(what, "--depth", command.words.depth, "Of the noise (default u8)",
                 words_of(kDepths));
  grammar.option(what, "--channels", "N", command.words.channels,
                 "Of the noise, 1 or 3 (default 1)");
  grammar.option(what, "--repeats", "N", command.words.repeats,
                 "Runs a row, at most (default 21); fewer, but 3,\nwhere they take over a second");
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
  grammar.option(outputs, "--plot", "FILE", command.plot, "A chart, .svg or .png; needs gnuplot");
  grammar.choice(outputs, "--plot-kind", command.plot_kind, "What it shows (default bars)",
                 words_of(kPlotKinds));
  grammar.message_options();
}

void check(CompareCommand& command, const Raw& raw) {
  command.loudness = loudness_of(raw);
  if (!command.from.empty()) {
    const auto& words = command.words;
    require(command.in.empty() && !words.size && !words.depth && !words.channels &&
                !words.strategies && !words.repeats && !raw.threads && !raw.border &&
                !raw.border_value && raw.mode == Raw{}.mode && raw.pitch == Raw{}.pitch &&
                command.convolver.request.device == Request{}.device &&
                command.masks == CompareCommand{}.masks,
            "--from: nothing is measured; leave out IN and what says what to measure");
    return check_outputs(command);
  }
  complete_request(command.convolver.request, raw);
  complete_border(command.convolver, raw);
  complete_pitch(command.convolver, raw);
  read_noise(command);
  check_outputs(command);

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
}

}  // namespace convfilt
