#include "src/lab/try/oracle.hpp"

#include <algorithm>
#include <cmath>

#include "src/base/suggest.hpp"

namespace convfilt {
namespace {

/// The mistake of a kernel if all of its outputs are those of the variant.
struct Suspicion {
  Variant variant;
  const char* kind;
  std::string text;
};

/// In the order in which they are asked; the first that explains all outputs is the cause.
std::vector<Suspicion> suspicions(const Trial& trial, const LaunchSize& launch) {
  std::vector<Suspicion> all;
  const auto add = [&](const Variant& variant, const char* kind, const std::string& text) {
    all.push_back({variant, kind, text});
  };
  const struct {
    std::string name, at, side;
    int samples, taps;
  } axes[] = {{"column", "x", "width", trial.width, trial.mask.width},
              {"row", "y", "height", trial.height, trial.mask_height()},
              {"plane", "z", "depth", trial.depth, trial.mask_depth}};
  const bool is_plane = trial.height > 1;
  // Along one axis, or along columns and rows.
  for (const unsigned which : {1u, 2u, 4u, 3u}) {
    std::string names, inside_low, inside_high;
    Axes once{}, reach{};
    bool is_there = true;
    for (std::size_t i = 0; i < 3; ++i) {
      if (!(which >> i & 1)) continue;
      is_there = is_there && axes[i].samples > 1;
      names += (names.empty() ? "" : " and ") + axes[i].name;
      inside_low += (inside_low.empty() ? "" : " && ") + axes[i].at + " >= 0";
      inside_high += (inside_high.empty() ? "" : " && ") + axes[i].at + " < " + axes[i].side;
      once[i] = 1;
      reach[i] = -axes[i].taps;
    }
    if (!is_there) continue;
    const std::string counts = which == 3 ? " count" : " counts",
                      test = ": the test for samples inside is ", missing = ", which is missing";
    const auto ghosts = [&](const Axes& low, const Axes& high, const std::string& text) {
      add({.low = low, .high = high}, "ghost_cells", text);
    };
    const Axes none{}, beyond{-once[0], -once[1], -once[2]};
    ghosts(once, none,
           "the picture's first " + names + counts + " as ghost cells" + test + inside_low);
    ghosts(none, once,
           "the picture's last " + names + counts + " as ghost cells" + test + inside_high);
    ghosts(none, beyond,
           "the " + names + " behind the last" + counts + " as samples" + test + inside_high +
               ", not <=");
    ghosts(beyond, none,
           "the " + names + " before the first" + counts + " as samples" + test + inside_low);
    ghosts(reach, none,
           "cells before the first " + names + " count as samples" + test + inside_low + missing);
    ghosts(none, reach,
           "cells behind the last " + names + " count as samples" + test + inside_high + missing);
    ghosts(reach, reach,
           "cells before the first " + names + " and behind the last count as samples" + test +
               inside_low + " && " + inside_high + missing);
    for (const bool last : {true, false})
      if (axes[0].taps > once[0] && axes[1].taps > once[1] && axes[2].taps > once[2])
        add({.first = last ? none : once, .last = last ? once : none}, "taps",
            std::string("all outputs lack the mask's ") + (last ? "last " : "first ") + names +
                ": a loop over the mask ends too early, or begins too late");
  }
  const auto off = [&](std::size_t i) {
    return axes[i].samples > 1 ? std::max(axes[i].taps - 1, i < 2 ? 4 : 1) : 0;
  };
  const auto is_off = [&](const Axes& by, int times) {
    bool is = true;
    for (std::size_t i = 0; i < 3; ++i)
      is = is && (by[i] == 0 || by[i] == times * (axes[i].taps / 2));
    return is;
  };
  for (int dz = -off(2); dz <= off(2); ++dz)
    for (int dy = -off(1); dy <= off(1); ++dy)
      for (int dx = -off(0); dx <= off(0); ++dx)
        if (const Axes by{dx, dy, dz}; by != Axes{})
          add({.offset = by}, "shifted",
              "all outputs are those of a mask that lies " + pixel(trial, {dx, dy, dz}) + " off" +
                  (axes[0].taps > 3 && is_off(by, 1)
                       ? ", too far right or down: the radius is not taken away"
                   : is_off(by, 2) ? ", too far right or down: the radius is added, not taken away"
                                   : ": the input tile, or the radius, is off by as much"));
  const std::string flipped = "all outputs are those of the mask ";
  add({.mirrors = {1, 1, 1}}, "flipped",
      flipped + "turned by 180 degrees: the task is a correlation, with weights as they stand");
  add({.mirrors = {1, 0, 0}}, "flipped", flipped + "mirrored left to right");
  if (is_plane) add({.mirrors = {0, 1, 0}}, "flipped", flipped + "mirrored top to bottom");
  if (trial.depth > 1) add({.mirrors = {0, 0, 1}}, "flipped", flipped + "mirrored front to back");
  add({.replicates = true}, "ghost_cells", "ghost cells are the nearest samples, and should be 0");
  for (const int side : {trial.width, trial.height})
    if (trial.depth > 1)
      add({.plane_side = side}, "stride",
          "planes of the input are taken for squares: z * height * width is right in an index");
  for (const bool inside : {false, true})
    add({.last_alone = !inside, .last_inside = inside}, "sum",
        "the last product alone counts: the sum has = for +=");
  using Exchange = Variant::Exchange;
  using Order = Variant::Order;
  if (is_plane) {
    add({.transposed = true}, "transposed", flipped + "with rows and columns exchanged");
    add({.by_height = true}, "stride",
        "rows of the input are taken for as long as the picture is high: an index has y * height, "
        "and y * width is right");
    for (const bool transposed : {true, false})
      if (launch.outputs.width == launch.outputs.height)
        add({.transposed = transposed, .exchange = Exchange::in_tile}, "transposed_tile",
            "the shared tile is transposed: its rows and columns are exchanged where it is "
            "written, or where it is read");
    add({.exchange = Exchange::of_blocks}, "block_index",
        "blocks compute each other's outputs: blockIdx.x and blockIdx.y are swapped");
    for (const Order order : {Order::by_height, Order::by_width})
      add({.order = order}, "transposed_output",
          "the output is transposed: rows and columns are exchanged in the index of what is "
          "written");
  }
  if (trial.channels > 1)
    add({.order = Order::other_channels}, "channels",
        std::string("channels of the output should lie ") +
            (trial.is_planar ? "one behind the other, as planes" : "side by side") +
            ", as those of the input do");
  if (trial.largest > 1) {
    // Small numbers would all be 0.
    add({.sums_whole = true}, "whole_sum",
        "the sum is an int, which drops what is behind the point");
    add({.cuts_whole = true}, "whole_sum",
        "outputs are cut to whole numbers: an (int) is too many");
    add({.rounds_whole = true}, "whole_sum", "outputs are rounded to whole numbers");
  }
  return all;
}

/// Compares what the first block wrote with what the launch says; nothing where that is as much.
std::string against_launch(const Oracle& oracle, const TrialRun& run, const LaunchSize& launch,
                           bool is_more) {
  const Trial& trial = oracle.trial();
  const BlockSides& said = launch.outputs;
  // How many outputs the first block has written last, and how far they reach.
  std::int64_t count = 0;
  BlockSides reach{{0, 0}, 0};
  oracle.all_of([&](const Cell& cell) {
    if (run.is_set.empty() || run.is_set[std::size_t(oracle.place_of(cell))] != 2) return true;
    ++count;
    reach.width = std::max(reach.width, std::int64_t{cell.x} + 1);
    reach.height = std::max(reach.height, std::int64_t{cell.y} + 1);
    reach.depth = std::max(reach.depth, std::int64_t{cell.z} + 1);
    return true;
  });
  if (count == 0 || launch.clears_out) return "";
  const auto differs = [&](std::int64_t is, std::int64_t each, int side) {
    return is_more ? is > each : is < std::min<std::int64_t>(each, side);
  };
  const bool is_row = said.height == 0 && trial.height > 1;
  if (is_row ? !differs(count, said.width * trial.channels, int(trial.outputs()))
             : !differs(reach.width, said.width, trial.out_width()) &&
                   !differs(reach.height, std::max<std::int64_t>(said.height, 1),
                            trial.out_height()) &&
                   !differs(reach.depth, said.depth, trial.out_depth()))
    return "";
  const BlockSides wrote =
      is_row || trial.height == 1 ? BlockSides{{count / trial.channels, 0}} : reach;
  return "a block writes " + to_string(wrote) + " outputs, and the launch " +
         (launch.line > 0 ? "promises " : "counts on ") + to_string(said) + " of each";
}

}  // namespace

std::string at_place(int x, int y, int z, bool has_z) {
  return "(" + std::to_string(x) + ", " + std::to_string(y) +
         (has_z ? ", " + std::to_string(z) : "") + ")";
}

bool is_written(const TrialRun& run, std::size_t place) {
  return run.is_set.empty() ? !std::isinf(run.out[place]) : run.is_set[place] != 0;
}

LessonSentence about_pixels(const Oracle& oracle, const TrialRun& run, const LaunchSize& launch) {
  const Trial& trial = oracle.trial();
  const Mask& mask = trial.mask;
  const auto got = [&](const Cell& cell) {
    return double(run.out[std::size_t(oracle.place_of(cell))]);
  };
  const auto written = [&](const Cell& cell) {
    return is_written(run, std::size_t(oracle.place_of(cell)));
  };
  std::vector<Cell> wrong;
  std::size_t unwritten = 0;
  oracle.all_of([&](const Cell& cell) {
    const double expected = oracle.at(cell);
    if (written(cell) && std::abs(got(cell) - expected) <= oracle.allowed(expected)) return true;
    wrong.push_back(cell);
    unwritten += written(cell) ? 0 : 1;
    return true;
  });
  if (wrong.empty()) {
    const std::string more = against_launch(oracle, run, launch, true);
    if (more.empty()) return {};
    return {"outputs", launch.line, more + ": blocks beyond the picture are launched in vain",
            launch.line > 0};
  }
  const std::size_t all = trial.outputs();
  const Cell first = wrong.front();
  const std::string how_many =
      std::to_string(wrong.size()) + " of " + std::to_string(all) + " outputs";
  const int w = int(launch.outputs.width),
            h = int(std::max<std::int64_t>(launch.outputs.height, 1)),
            d = int(launch.outputs.depth);
  const auto every = [&](const std::function<bool(const Cell&)>& is_there) {
    return std::ranges::all_of(wrong, is_there);
  };
  if (unwritten == all && all > 1) return {"unwritten", 0, "no output is written at all"};
  const BlockSides grid = launch.grid(trial.out_width(), trial.out_height(), trial.out_depth());
  if (unwritten == wrong.size()) {
    const auto is_beyond = [&](const Cell& cell) {
      return cell.x >= grid.height * w || cell.y >= grid.width * h;
    };
    const BlockSides threads = launch.threads();
    const auto is_between = [&](const Cell& cell) {
      return cell.x % threads.width >= w || cell.y % threads.height >= h;
    };
    const bool is_grid = launch.outputs.height > 0 && unwritten < all;
    if (is_grid && grid.width != grid.height && every(is_beyond) &&
        oracle.all_of([&](const Cell& cell) { return !is_beyond(cell) || !written(cell); }))
      return {"block_index", 0,
              how_many +
                  " are never written, and those are written that would be if blockIdx.x and "
                  "blockIdx.y were swapped",
              true};
    if (is_grid && every(is_between))
      return {"block_index", 0,
              how_many + " are never written: blocks lie " + to_string(threads) +
                  " outputs apart, and compute " + to_string(launch.outputs) +
                  ", which blockIdx must be multiplied by",
              true};
    const std::string fewer = against_launch(oracle, run, launch, false);
    return {"unwritten", 0,
            how_many + " are never written, the first at " + pixel(trial, first) +
                (fewer.empty() ? ": too few threads or blocks write, or their test is too strict"
                               : ": " + fewer)};
  }
  if (unwritten == 0 && every([&](const Cell& cell) { return std::isnan(got(cell)); }))
    return {"not_a_number", 0,
            how_many + " are no numbers, the first at " + pixel(trial, first) +
                ": a variable that nobody sets takes part, or what does lies outside"};

  // A few outputs may be anything by chance.
  constexpr std::size_t kFew = 9;
  // Whether the cell lies in a block that has neighbours on all sides.
  const auto is_inside = [&](const Cell& cell) {
    return cell.x >= w && cell.x / w + 1 < grid.width && cell.y >= h &&
           cell.y / h + 1 < grid.height;
  };
  const bool wrong_inside = std::ranges::any_of(wrong, is_inside);
  const auto explains = [&](const Variant& variant) {
    std::size_t seen = 0;
    bool has_more = false;  // than zeros, which have many causes
    const bool is_tile = variant.exchange == Variant::Exchange::in_tile;
    const bool is_all = oracle.all_of([&](const Cell& cell) {
      const std::ptrdiff_t place = oracle.place_of(cell, variant.order);
      if (place < 0 || !is_written(run, std::size_t(place))) return true;
      Cell from = cell;
      if (is_tile) {
        // A block at the rim may have ghost cells where they should be.
        if (!is_inside(cell)) return true;
        from.x = cell.x / w * w + cell.y % h;
        from.y = cell.y / h * h + cell.x % w;
      } else if (variant.exchange == Variant::Exchange::of_blocks) {
        from.x = cell.y / h * w + cell.x % w;
        from.y = cell.x / w * h + cell.y % h;
        if (from.x >= trial.out_width() || from.y >= trial.out_height()) return true;
      }
      ++seen;
      const double expected = oracle.at(from, variant), is = double(run.out[std::size_t(place)]);
      has_more = has_more || expected != 0;
      return std::isnan(expected) ? std::isnan(is)
                                  : std::abs(is - expected) <= oracle.allowed(expected);
    });
    return is_all && has_more && (is_tile ? wrong_inside : 2 * seen >= all) &&
           (all > kFew || variant.order == Variant::Order::own);
  };
  for (const Suspicion& one : suspicions(trial, launch))
    if (explains(one.variant)) {
      const bool counts = std::string_view(one.kind) == "ghost_cells" && !one.variant.replicates;
      const bool is_cause = all > kFew && one.variant.low[0] >= 0 && one.variant.low[1] >= 0;
      return {one.kind, 0, counts ? how_many + " are wrong, since " + one.text : one.text,
              is_cause};
    }

  const double expected = oracle.at(first), more = got(first) - expected,
               times = got(first) / expected;
  if (wrong.size() == all && all > 1 && every([&](const Cell& cell) {
        const double is_off = got(cell) - oracle.at(cell);
        return std::abs(is_off - more) <= oracle.allowed(0) + std::abs(more) * 1e-5;
      })) {
    return {"offset", 0,
            "all outputs are " + with_format("%.4g", std::abs(more)) +
                (more > 0 ? " too large" : " too small") + ": the sum does not begin at 0"};
  }
  if (all > kFew && 2 * wrong.size() > all && std::abs(times) > 1e-6 &&
      every([&](const Cell& cell) {
        const double should_be = oracle.at(cell) * times;
        return std::abs(got(cell) - should_be) <=
               oracle.allowed(0) + (oracle.allowed(0) + std::abs(should_be)) * 1e-4;
      })) {
    const bool is_mean = std::abs(times * double(mask.weights.size()) - 1) < 1e-3;
    return {"factor", 0,
            "all outputs are " + with_format("%.4g", times) + " times what they should be" +
                (is_mean ? ": they are divided by the number of weights, which apply as they stand"
                         : ""),
            true};
  }
  if (trial.channels > 1 && every([](const Cell& cell) { return cell.channel > 0; }))
    return {"channels", 0,
            how_many +
                " are wrong, and none of the first channel: a sum, or an index, is not set "
                "anew for each channel"};
  const int rows = int(std::max<std::int64_t>(launch.block.height, 1)),
            columns = int(launch.block.width);
  if (all > kFew && (h > rows || w > columns) &&
      every([&](const Cell& cell) { return cell.y % h >= rows || cell.x % w >= columns; }) &&
      unwritten == 0)
    return {"thread_outputs", 0,
            how_many +
                " are wrong, and none of the first outputs of threads: a sum, or an index, is "
                "not set anew for each output of a thread"};

  const std::string example = "as at " + pixel(trial, first) + ", which is " +
                              (written(first) ? with_format("%.6g", got(first)) + " and not " +
                                                    with_format("%.6g", expected)
                                              : "not written");

  // The lowest and the highest output that is written, where outputs should be beyond.
  double lowest = got(first), highest = lowest;
  oracle.all_of([&](const Cell& cell) {
    lowest = std::min(lowest, got(cell));
    highest = std::max(highest, got(cell));
    return true;
  });
  const auto is_clamped = [&](const Cell& cell) {
    const double is = got(cell), should_be = oracle.at(cell);
    return (is == lowest && should_be < lowest) || (is == highest && should_be > highest);
  };
  if (unwritten == 0 && lowest < highest && wrong.size() < all && every(is_clamped))
    return {
        "clamped", 0,
        how_many + " are wrong, " + example +
            ", and should lie beyond all that the kernel writes: it seems to clamp its outputs, "
            "which are to stay as they are"};

  const int left = mask.anchor_x, top = mask.anchor_y, right = mask.width - 1 - left,
            bottom = trial.mask_height() - 1 - top, near = trial.mask_depth / 2;
  const struct {
    const char* name;
    std::function<bool(const Cell&)> has;
  } sides[] = {
      {"left", [&](const Cell& c) { return c.x <= left; }},
      {"right", [&](const Cell& c) { return c.x >= trial.width - 1 - right; }},
      {"upper", [&](const Cell& c) { return trial.height > 1 && c.y <= top; }},
      {"lower",
       [&](const Cell& c) { return trial.height > 1 && c.y >= trial.height - 1 - bottom; }},
      {"front", [&](const Cell& c) { return trial.depth > 1 && c.z <= near; }},
      {"back", [&](const Cell& c) { return trial.depth > 1 && c.z >= trial.depth - 1 - near; }}};
  // A test that is too strict spoils a column more than the mask reaches.
  if (!trial.is_valid) {
    for (const auto& side : sides)
      if (every(side.has))
        return {"ghost_cells", 0,
                how_many + " are wrong, all at the " + side.name + " border, " + example +
                    ": the test for ghost cells is wrong there"};
    if (every([&](const Cell& cell) {
          return std::ranges::any_of(sides, [&](const auto& side) { return side.has(cell); });
        }))
      return {"ghost_cells", 0,
              how_many + " are wrong, all at borders, " + example +
                  ": the test for ghost cells is wrong"};
  }
  const auto at_tile = [&](const Cell& c) {
    return c.x % w < left || c.x % w >= w - right ||
           (trial.height > 1 && (c.y % h < top || c.y % h >= h - bottom)) ||
           (trial.depth > 1 && (c.z % d < near || c.z % d >= d - near));
  };
  if (every(at_tile) && w > left + right && (trial.height == 1 || h > top + bottom))
    return {"halo", 0,
            how_many + " are wrong, all at edges of tiles, " + example +
                ": the halo is not loaded there, or not where it is read"};
  return {"wrong", 0, how_many + " are wrong, " + example};
}

}  // namespace convfilt
