#include "src/lab/explain/explain.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/lab/commands.hpp"
#include "kernels/registry.hpp"
#include "src/base/atomic_file.hpp"
#include "src/base/log.hpp"
#include "src/base/suggest.hpp"
#include "src/base/table.hpp"
#include "src/base/terminal.hpp"
#include "src/lab/compare/contenders.hpp"
#include "src/lab/explain/overlap_costs.hpp"
#include "src/lab/explain/reuse.hpp"
#include "src/lab/explain/text.hpp"
#include "src/lab/explain/tile_picture.hpp"
#include "src/mask/file.hpp"

namespace convfilt {
namespace {

constexpr const char* kDefaultMasks[] = {"5x5", "3x3"};

/// The problem with the depth and the mask asked for, else with the first defaults that the
/// strategy takes in its default settings.
Problem with_mask(Problem problem, const ExplainCommand& command, const Strategy& strategy) {
  std::vector<Problem> all;
  for (const Depth depth : {Depth::f32, Depth::u8}) {
    for (const char* mask : kDefaultMasks) {
      problem.depth = command.depth.value_or(depth);
      problem.mask = mask_named(command.mask.value_or(mask));
      all.push_back(problem);
      if (strategy.refusal(problem).empty()) return problem;
    }
  }
  return all.front();
}

constexpr int kManyWeights = 200 * 200;  // fewer are counted in a moment
constexpr int kLargestDefault = 4;       // times the sides of the default picture

/// Whether a block in the middle could not be counted, though the strategy has blocks.
bool lacks_middle(const Explanation& explanation) {
  return explanation.geometry && !explanation.middle_counts &&
         explanation.strategy->runs_on(DeviceKind::emulator);
}

/// A number of every cell, and what it is.
struct Figure {
  double ReuseCell::*value;
  double ReuseRow::*limit = nullptr;
  const char* group = "";
};

/// A table of one number of every cell or of two, and the books or lectures that a row stands in.
struct Figures {
  const char* title;
  std::vector<Figure> of;
  TileOf published = TileOf::none;
  const char* where = "";
};
const Figures kFigures[] = {
    {"reuse", {{&ReuseCell::reuse, &ReuseRow::reuse_limit}}, TileOf::output, "ECE408"},
    {"reuse, ghosts out", {{&ReuseCell::ghosts_out}}},
    {"operations per byte read, and per byte read or stored",
     {{&ReuseCell::operations, &ReuseRow::operations_limit, "per byte read"},
      {&ReuseCell::of_moved, &ReuseRow::of_moved_limit, "per byte read or stored"}},
     TileOf::input,
     "PMPP 4e 7.4, 5e 7.5"},
};

/// Where the row stands; empty where it does nowhere. The book has floats, in two dimensions, and
/// neither it nor the lecture has overlap-save.
std::string where_published(const Figures& figures, const ReuseRow& row, int dimensions,
                            Depth depth) {
  const bool as_published =
      figures.published == TileOf::output || (dimensions == 2 && depth == Depth::f32);
  return row.strategy->has(Setting::tile) && row.tile_of != TileOf::none &&
                 row.tile_of == figures.published && as_published
             ? figures.where
             : "";
}

constexpr std::pair<const char*, double OverlapCosts::*> kOverlapFigures[] = {
    {"blocks", &OverlapCosts::blocks},
    {"transforms", &OverlapCosts::transforms},
    {"reads", &OverlapCosts::reads},
    {"writes", &OverlapCosts::writes},
    {"additions", &OverlapCosts::additions},
    {"launches", &OverlapCosts::launches},
    {"multiplications", &OverlapCosts::multiplications},
    {"bytes", &OverlapCosts::bytes},
};

std::string sides_of(const Mask& mask, int dimensions) {
  const std::string width = std::to_string(mask.width);
  return dimensions == 1 ? width : width + "x" + std::to_string(mask.height);
}

Table table_of(std::span<const ReuseRow> rows, int dimensions, Depth depth,
               const Figures& figures) {
  const bool published = figures.published != TileOf::none;
  Table table;
  table.words = 2;
  table.head = {"strategy", "mask"};
  std::vector<std::string> groups(2);
  for (const Figure& each : figures.of) {
    for (const ReuseCell& cell : rows.front().cells)
      table.head.push_back("tile " + std::to_string(cell.tile));
    if (each.limit) table.head.emplace_back("limit");
    groups.resize(table.head.size(), each.group);
  }
  if (published) table.head.emplace_back("as in");
  groups.resize(table.head.size());
  if (figures.of.size() > 1) table.groups = groups;
  for (const ReuseRow& row : rows) {
    Table::Line line{{name_of(Contender{row.strategy, row.tuning}), sides_of(row.mask, dimensions)},
                     ""};
    for (const Figure& each : figures.of) {
      for (const ReuseCell& cell : row.cells) {
        const double value = cell.*each.value;
        line.cells.push_back(value > 0 ? figure(value) + (cell.refusal.empty() ? "" : "*") : "-");
      }
      if (each.limit) line.cells.push_back(figure(row.*each.limit));
    }
    if (published) line.cells.push_back(where_published(figures, row, dimensions, depth));
    table.lines.push_back(line);
  }
  return table;
}

/// Tables under their titles, and what there is to say of all of them.
struct Tables {
  std::vector<std::pair<std::string, Table>> titled;
  std::vector<std::string> sentences;
};

std::string to_text(const Tables& tables) {
  std::string text;
  for (const auto& [title, table] : tables.titled)
    text += title + "\n" + as_text(table, terminal_width(STDOUT_FILENO)) + "\n";
  for (const std::string& sentence : tables.sentences) text += sentence + "\n";
  return text;
}

std::string to_markdown(const Tables& tables) {
  std::string text;
  for (const auto& [title, table] : tables.titled)
    text += "**" + title + "**\n\n" + as_markdown(table) + "\n";
  for (const std::string& sentence : tables.sentences)
    text += "- " + escaped_markdown(sentence) + "\n";
  return text;
}

Tables reuse_tables(std::span<const std::vector<ReuseRow>> all, const Problem& picture) {
  Tables tables;
  bool refused = false;
  for (int dimensions = 1; dimensions <= 2; ++dimensions) {
    const std::vector<ReuseRow>& rows = all[std::size_t(dimensions) - 1];
    for (const Figures& figures : kFigures)
      tables.titled.emplace_back(
          (dimensions == 1 ? "One dimension: " : "Two dimensions: ") + std::string(figures.title),
          table_of(rows, dimensions, picture.depth, figures));
    for (const ReuseRow& row : rows)
      for (const ReuseCell& cell : row.cells)
        refused = refused || (cell.reads > 0 && !cell.refusal.empty());
  }
  tables.sentences = {
      "Reuse: taps of a block's outputs / its reads of global memory, or fetches of a texture, far "
      "from the edges.",
      "Ghosts out: taps on samples of a picture / reads of all its blocks, where ghost cells are "
      "not read. The picture is " +
          size_text(picture.width, picture.height) + " " + std::string(name_of(picture.depth)) +
          ", or one such row.",
      "Operations: two a tap. Weights come from constant memory and are not counted; if each were "
      "read from global memory, too, basic would have half. An output is stored once.",
      "Tile: the side of a block. It is the output tile's, or the input tile's where the block has "
      "a thread for each sample of that. Elsewhere --tile is always the output tile's side, which "
      "is less than the input tile's by the mask's side less 1. For overlap-save it is the outputs "
      "that a block keeps, and --block the input tile's side.",
      "Limit: what larger tiles approach. As in: the lecture or book with that row. PMPP's 4th "
      "edition counts the bytes read, and its 5th the bytes stored, too.",
      "-: the mask leaves no output of the tile."};
  if (refused)
    tables.sentences.emplace_back("*: by formula alone, since no block has that many threads.");
  return tables;
}

std::string reuse_json(std::span<const std::vector<ReuseRow>> all, const Problem& picture) {
  nlohmann::ordered_json json = {{"depth", name_of(picture.depth)},
                                 {"width", picture.width},
                                 {"height", picture.height},
                                 {"rows", nlohmann::ordered_json::array()}};
  const auto or_null = [](double value) {
    return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  };
  for (int dimensions = 1; dimensions <= 2; ++dimensions)
    for (const ReuseRow& row : all[std::size_t(dimensions) - 1])
      for (const ReuseCell& cell : row.cells)
        json["rows"].push_back(
            {{"strategy", name_of(Contender{row.strategy, row.tuning})},
             {"dimensions", dimensions},
             {"mask", row.mask.width},
             {"tile", cell.tile},
             {"reads_per_output", or_null(cell.reads)},
             {"reuse", or_null(cell.reuse)},
             {"reuse_ghosts_out", or_null(cell.ghosts_out)},
             {"operations_per_byte", or_null(cell.operations)},
             {"operations_per_byte_moved", or_null(cell.of_moved)},
             {"reuse_limit", row.reuse_limit},
             {"operations_per_byte_limit", row.operations_limit},
             {"operations_per_byte_moved_limit", row.of_moved_limit},
             {"launch", cell.refusal.empty() ? nlohmann::ordered_json(true)
                                             : nlohmann::ordered_json(cell.refusal)}});
  return json.dump(2) + "\n";
}

/// A line for each cost, and a column for each strategy.
Table overlap_table(std::span<const OverlapCosts> all) {
  Table table;
  table.words = 1;
  table.head = {""};
  for (const OverlapCosts& costs : all) table.head.push_back(costs.name);
  const auto line = [&](const char* name, auto cell_of) {
    table.lines.push_back({{name}, ""});
    for (const OverlapCosts& costs : all)
      table.lines.back().cells.push_back(costs.refusal.empty() ? cell_of(costs) : "refused");
  };
  const auto sides = [](int columns, int rows) {
    return columns == 0 ? "-" : size_text(columns, rows);
  };
  line("samples of a block",
       [&](const OverlapCosts& c) { return sides(c.block_columns, c.block_rows); });
  line("its transform",
       [&](const OverlapCosts& c) { return sides(c.frame_columns, c.frame_rows); });
  for (const auto& [name, value] : kOverlapFigures)
    line(name, [value = value](const OverlapCosts& c) { return grouped(std::size_t(c.*value)); });
  return table;
}

Tables overlap_tables(std::span<const OverlapCosts> all, const Problem& p, const Tuning& tuning) {
  const std::string settings = to_string(tuning);
  Tables tables{
      {{"Overlap-discard beside overlap-add: " + to_string(p) +
            (settings.empty() ? "" : ", " + settings),
        overlap_table(all)}},
      {"Reads: samples of the picture that kernels ask for, ghost cells among them. "
       "Overlap-discard reads those under two blocks twice.",
       "Writes: outputs, and sums when they are set. Additions: to sums, each a read and a "
       "write, since outputs of blocks overlap.",
       "Launches: kernels, and calls of a library for a batch of transforms. Transforms: "
       "there, back, and of the mask.",
       tuning[Setting::domain] == kSpatial
           ? "Multiplications: one for each weight of an output, and for zeros beside a block's "
             "samples."
           : "Multiplications: N log2 N for a transform of N real samples, and four for each "
             "product of two frequencies; N M for N outputs of a direct sum under M weights.",
       "Bytes: of both pictures and of all that lies between, on a CPU."}};
  for (const OverlapCosts& costs : all)
    if (!costs.refusal.empty()) tables.sentences.push_back(costs.name + ": " + costs.refusal + ".");
  return tables;
}

std::string overlap_json(std::span<const OverlapCosts> all, const Problem& p,
                         const Tuning& tuning) {
  nlohmann::ordered_json json = {{"problem", to_string(p)},
                                 {"settings", to_string(tuning)},
                                 {"strategies", nlohmann::ordered_json::array()}};
  for (const OverlapCosts& costs : all) {
    nlohmann::ordered_json one = {{"name", costs.name},
                                  {"refusal", costs.refusal},
                                  {"block", {costs.block_columns, costs.block_rows}},
                                  {"transform", {costs.frame_columns, costs.frame_rows}}};
    for (const auto& [name, value] : kOverlapFigures) one[name] = costs.*value;
    json["strategies"].push_back(one);
  }
  return json.dump(2) + "\n";
}

/// Writes the tables in the ways that the command asks for, or as text.
void write_tables(const ExplainCommand& asked, const std::string& json, const Tables& tables) {
  const std::string& markdown = asked.table.markdown;
  for (const auto& [path, text] : {std::pair{asked.json, json}, {markdown, to_markdown(tables)}})
    if (!path.empty()) write_result(path, text);
  if (asked.json != "-" && markdown != "-") print_text(to_text(tables));
}

void make_tables(const ExplainCommand& command, const Problem& picture) {
  const ReuseTables& asked = command.table;
  if (asked.overlap) {
    Problem problem = picture;
    problem.mask = mask_named(command.mask.value_or(kDefaultMasks[0]));
    if (command.flip) problem.mask = flipped(problem.mask);
    if (const std::string refusal = mode_refuses(problem); !refusal.empty())
      throw UsageError("--table overlap: " + refusal);
    const Tuning& tuning = command.convolver.request.tuning;
    const std::vector<OverlapCosts> costs = overlap_costs(problem, tuning);
    return write_tables(command, overlap_json(costs, problem, tuning),
                        overlap_tables(costs, problem, tuning));
  }
  std::vector<const Strategy*> strategies = strategies_with_reuse();
  if (const std::string& name = command.convolver.request.strategy; name != Request().strategy)
    strategies = {find_strategy(name)};
  const std::vector<ReuseRow> all[] = {
      reuse_rows(strategies, picture, 1, asked.masks, asked.tiles),
      reuse_rows(strategies, picture, 2, asked.masks, asked.tiles)};
  write_tables(command, reuse_json(all, picture), reuse_tables(all, picture));
}

}  // namespace

void ExplainCommand::run() {
  const ConvolverOptions& options = convolver;
  Problem problem{
      width, height,      1, depth.value_or(Depth::f32), options.border, options.border_value,
      {},    options.mode};
  if (table.wanted()) return make_tables(*this, problem);
  const Strategy& strategy = *find_strategy(options.request.strategy);
  problem = with_mask(problem, *this, strategy);
  if (flip) problem.mask = flipped(problem.mask);
  if (!picture.empty()) {
    check_drawable(strategy);
    if (mask) check_keeps_mask(*mask, picture);
    check_plot(picture);
    if (at) check_output(*at, problem);
  }
  if (problem.mask.width * problem.mask.height > kManyWeights)
    log_note("counting in the emulator what kernels read; a mask of " +
             size_text(problem.mask.width, problem.mask.height) + " may take some seconds");
  const Architecture& gpu = find_architecture(architecture);
  Explanation explanation = explain(strategy, problem, options.request.tuning, gpu);
  // A block may be so large that the default picture has none in its middle.
  const auto too_small = [&](const Explanation& e) {
    return lacks_middle(e) || (!picture.empty() && !shows_middle(e));
  };
  const bool may_grow = !sized && !at;
  for (int times = 2; times <= kLargestDefault && may_grow && too_small(explanation); times *= 2) {
    problem.width = width * times;
    problem.height = height * times;
    Explanation larger = explain(strategy, problem, options.request.tuning, gpu);
    // Blocks that grow with the picture have none in its middle, whatever its size.
    if (lacks_middle(explanation) || shows_middle(larger)) explanation = std::move(larger);
  }
  const std::vector<std::string> differences = explanation.differences();
  // A picture of an explanation that contradicts itself would look as if it were right.
  if (!picture.empty() && differences.empty()) plot_to_file(picture, tile_picture(explanation, at));
  if (!json.empty()) write_result(json, to_json(explanation, CONVFILT_VERSION));
  if (json != "-") print_text(to_text(explanation));
  if (!differences.empty())
    throw std::logic_error("formula and count differ: " + differences.front());
}

}  // namespace convfilt
