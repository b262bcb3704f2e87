/// What `explain` says of a block: the textbook's numbers, and formula against count. A count that
/// nothing could contradict would prove nothing, so wrong geometries are shown to be found out.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "src/base/errors.hpp"
#include "src/lab/explain/explain.hpp"
#include "src/lab/explain/text.hpp"
#include "src/lab/explain/tile_picture.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
namespace {

const Architecture& h200() {
  return find_architecture("sm_90");
}

Problem problem_of(const Mask& mask, int width = 100, int height = 60) {
  Problem p;
  p.width = width;
  p.height = height;
  p.mask = mask;
  return p;
}

Explanation explained(const char* name, const Problem& problem, const Tuning& tuning = {}) {
  const Strategy* strategy = find_strategy(name);
  REQUIRE(strategy);
  return explain(*strategy, problem, tuning, h200());
}

Tuning with_tile(int tile) {
  Tuning tuning;
  tuning[Setting::tile] = tile;
  return tuning;
}

/// The formula's number, where the emulator counted the same.
std::int64_t agreed(const Compared& reads) {
  REQUIRE(reads.formula);
  REQUIRE(reads.count);
  CHECK(reads.formula->global == reads.count->global);
  CHECK(reads.formula->made_up == reads.count->made_up);
  return reads.formula->global;
}

}  // namespace

TEST_CASE("tiled-in at 5x5 and tile 16: 256 outputs from 400 loads, reuse 16") {
  if (emulator_missing()) return;
  const Explanation e = explained("tiled-in", problem_of(box_mask(5, 5)), with_tile(16));
  CHECK(e.geometry->block_columns * e.geometry->block_rows == 400);
  CHECK(e.geometry->loading_threads == 400);
  CHECK(e.geometry->computing_threads == 256);
  CHECK(agreed(e.middle) == 400);
  CHECK(e.middle_counts->blocks == 1);
  CHECK(e.middle_counts->shared_reads == 256 * 25);
  const std::string text = to_text(e);
  CHECK(text.find("400 / 256 = 1.5625") != text.npos);
  CHECK(text.find("256 * 25 / 400 = 16\n") != text.npos);
  CHECK(text.find("400 threads: all of them") != text.npos);
  CHECK(text.find("256 threads, 144 idle while") != text.npos);
  CHECK(text.find("324 samples in the image, 76 ghost cells") != text.npos);  // 18 * 18 of 20 * 20
  CHECK(text.find("DIFFER") == text.npos);
}

TEST_CASE("reads of an output by formula, all parts of a mask together") {
  const auto reads = [](const char* name, int side, const Tuning& tuning = {}) {
    const Strategy* strategy = find_strategy(name);
    REQUIRE(strategy);
    return reads_per_output(*strategy, problem_of(box_mask(side, side), 4000, 3000), tuning);
  };
  CHECK(reads("basic", 5) == 25);
  CHECK(reads("tiled-in", 5, with_tile(16)) == 400.0 / 256);
  CHECK(reads("tiled-in", 9, with_tile(16)) == 576.0 / 256);
  CHECK(reads("basic", 93) == 93 * 93);
  CHECK(reads("cpu", 5) == 0);
  CHECK(reads("fft", 5) == 0);
}

TEST_CASE(
    "bytes that threads ask for, an output: samples, the output, and what unfinished sums take") {
  const auto bytes = [](const char* name, int side, const Tuning& tuning = {},
                        Depth depth = Depth::u8) {
    const Strategy* strategy = find_strategy(name);
    REQUIRE(strategy);
    Problem p = problem_of(box_mask(side, side), 4000, 3000);
    p.depth = depth;
    return bytes_per_output(*strategy, p, tuning);
  };
  Tuning spatial;
  spatial[Setting::domain] = kSpatial;
  CHECK(bytes("basic", 5) == 25 + 1);
  CHECK(bytes("basic", 5, {}, Depth::f32) == 4 * (25 + 1));
  CHECK(bytes("tiled-in", 5, with_tile(16)) == 400.0 / 256 + 1);
  // Nine parts of 31 x 31 are added to sums of 32 bits, eight times.
  CHECK(bytes("basic", 93) == 93 * 93 + 1 + 8 * 2 * 4);
  // A sample is added to 25 sums of 32 bits, each of which is begun and finished, too.
  CHECK(bytes("scatter", 5) == 1 + 1 + 25 * 4 + 2 * 4);
  CHECK(bytes("scatter", 5, {}, Depth::f32) == 4 + 4 + 25 * 8 + 2 * 8);
  CHECK(*bytes("overlap-save", 5, spatial) == doctest::Approx(36.0 * 36 / 1024 + 1));
  // Blocks of 32 x 32 are added to 36 x 36 sums: read, and written.
  CHECK(*bytes("overlap-add", 5, spatial) ==
        doctest::Approx(1 + 1 + 36.0 * 36 / 1024 * 2 * 4 + 2 * 4));
  spatial[Setting::accumulate] = kAtomic;
  CHECK(*bytes("overlap-add", 5, spatial) == doctest::Approx(1 + 1 + 36.0 * 36 / 1024 * 4 + 2 * 4));
  // A library reads, too, or nobody has written a formula down.
  for (const char* name : {"im2col", "fft", "overlap-save", "overlap-add", "in-parts", "two-pass"})
    CHECK(!bytes(name, 5));
}

TEST_CASE("atomic additions of a block, by formula and by count") {
  if (emulator_missing()) return;
  Tuning atomic;
  atomic[Setting::accumulate] = kAtomic;
  Tuning spatial = atomic;
  spatial[Setting::domain] = kSpatial;
  const auto adds = [](const char* name, const Mask& mask, const Tuning& tuning) {
    const Explanation e = explained(name, problem_of(mask, 200, 120), tuning);
    CHECK(e.differences().empty());
    REQUIRE(e.middle_counts);
    CHECK(double(e.middle_counts->atomic_adds) == e.geometry->adds);
    return e.geometry->adds;
  };
  CHECK(adds("scatter", box_mask(5, 3), {}) == 32 * 8 * 15);
  CHECK(adds("overlap-add", box_mask(5, 5), spatial) == 36 * 36);
  CHECK(adds("in-parts", box_mask(5, 5), spatial) == 36 * 36);
  CHECK(adds("overlap-add", box_mask(5, 5), atomic) == 32 * 32);  // blocks of 28 samples
  const std::string text = to_text(explained("scatter", problem_of(box_mask(5, 5)), {}));
  CHECK(text.find("25   formula and count agree") != text.npos);
  // Sums of 8-bit samples have 32 bits.
  CHECK(text.find("2 * 6400 / 25856 = 0.495 per byte of reads and atomic adds") != text.npos);
}

TEST_CASE("tiled-out says how many outputs a thread has, whatever the settings") {
  if (emulator_missing()) return;
  const auto said = [](const Mask& mask, Setting setting, int value) {
    Tuning tuning;
    if (value) tuning[setting] = value;
    return to_text(explained("tiled-out", problem_of(mask), tuning));
  };
  const auto heading = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  const std::string four = "Each thread computes 4 outputs of one column.",
                    one = "Each thread computes one output.";
  CHECK(said(box_mask(5, 5), Setting::tile, 0).find(four) != std::string::npos);
  for (const std::string& text :
       {said(box_mask(5, 5), Setting::outputs, 1), said(box_mask(5, 5), Setting::tile, 8),
        said(box_mask(5, 1), Setting::tile, 0)}) {
    CHECK(text.find(one) != text.npos);
    CHECK(text.find(four) == text.npos);
    // The summary speaks of the default.
    CHECK(heading(text).find(" by default four outputs a thread") != text.npos);
  }
}

TEST_CASE("cached's formula gives its number, under odd and even masks") {
  const auto check = [](int w, int h, int tile, const std::string& formula) {
    INFO(w << 'x' << h << ", tile " << tile);
    const Geometry g =
        find_strategy("cached")->geometry(problem_of(box_mask(w, h)), with_tile(tile));
    const auto kept = [&](int n) {
      if (n / 2 <= tile)
        return n % 2 == 1 ? 1 - (double(n) * n - 1) / (4.0 * n * tile) : 1 - n / (4.0 * tile);
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += std::max(0.0, 1 - double(std::abs(i - n / 2)) / tile);
      return sum / n;
    };
    const double reads = 1 + w * h * (1 - kept(w) * (h == 1 ? 1 : kept(h)));
    CHECK(g.loads_per_output == formula);
    CHECK(g.loads / (g.out_columns * g.out_rows) == doctest::Approx(reads));
  };
  const std::string far = "kept(n) = sum of max(0, 1 - |i - floor(n / 2)| / tile) over i < n, / n";
  const std::string odd = "kept(n) = 1 - (n^2 - 1) / (4 * n * tile)", even = "1 - n / (4 * tile)",
                    square = "1 + w * h * (1 - kept(w) * kept(h)), ";
  check(5, 1, 8, "1 + (w^2 - 1) / (4 * tile)");
  check(4, 1, 8, "1 + w^2 / (4 * tile)");  // 12 / 8 = 1.5
  check(5, 5, 16, square + odd);
  check(3, 7, 8, square + odd);
  check(4, 6, 16, square + "kept(n) = " + even);
  check(4, 7, 16, square + odd + " for odd n, else " + even);
  check(1, 4, 8, square + odd + " for odd n, else " + even);
  check(16, 16, 8, square + "kept(n) = " + even);
  check(31, 31, 8, square + far);  // taps lie up to 15 samples beside
  check(31, 1, 4, "1 + w * (1 - kept(w)), " + far);
}

TEST_CASE("operations a byte of PMPP 4e, ch. 7.4: floats, two operations a tap") {
  if (emulator_missing()) return;
  struct Row {
    int side, in_tile;
    double ratio;
  };
  for (const Row& row :
       {Row{5, 8, 3.13}, {5, 16, 7.03}, {5, 32, 9.57}, {9, 16, 10.12}, {9, 32, 22.78}}) {
    const Mask mask = box_mask(row.side, row.side);
    const Explanation e =
        explained("tiled-in", problem_of(mask), with_tile(row.in_tile - row.side + 1));
    const double bytes = 4.0 * double(agreed(e.middle));
    CHECK(2 * double(taps_of(*e.geometry, mask)) / bytes ==
          doctest::Approx(row.ratio).epsilon(0.002));
  }
}

TEST_CASE("the boundary tile of ECE408: 8 outputs, 5 taps, 37 uses of 10 loads") {
  TileAxis axis{100, 100, 5, 2, 2, 8, 8, 12, 2};
  CHECK(axis.taps_inside(0) == 37);
  CHECK(axis.inputs_inside(0) == 10);
  CHECK(axis.taps_inside(1) == 40);
  CHECK(axis.inputs_inside(1) == 12);
}

TEST_CASE("an axis's tiles, against a walk over every cell") {
  for (const Mode mode : kModes) {
    for (const auto& [in, side, anchor, tile, step, in_tile, in_lead] :
         {std::array{50, 5, 2, 16, 16, 20, 2},
          {33, 4, 0, 8, 8, 11, 0},
          {7, 9, 8, 4, 4, 12, 8},
          {40, 7, 3, 22, 16, 16, -3}}) {
      Problem p;
      p.width = in;
      p.mask = anchored(box_mask(side, 1), anchor, 0);
      p.mode = mode;
      if (p.out_width() < 1) continue;
      const TileAxis axis{in,   p.out_width(), side,    p.lead_x(), anchor,
                          tile, step,          in_tile, in_lead};
      std::int64_t taps = 0, outputs = 0;
      for (int n = 0; n < axis.outputs; ++n)
        for (int i = 0; i < side; ++i) taps += n - axis.lead + i >= 0 && n - axis.lead + i < in;
      CHECK(axis.all_taps_inside() == taps);
      for (int t = 0; t < axis.tiles(); ++t) {
        int inside = 0;
        for (int c = 0; c < in_tile; ++c) {
          const int x = axis.first_input(t) + c;
          inside += x >= 0 && x < in;
        }
        CHECK(axis.inputs_inside(t) == inside);
        CHECK(axis.outputs_of(t) > 0);
        outputs += axis.outputs_of(t);
      }
      // Every output is covered, and once where tiles do not overlap.
      CHECK(outputs >= axis.outputs);
      if (tile == step) CHECK(outputs == axis.outputs);
    }
  }
}

TEST_CASE("formula and count agree: every strategy with blocks, masks, borders, modes, settings") {
  if (emulator_missing()) return;
  Random random(71);
  int middles = 0, pictures = 0;
  struct Case {
    Runner runner;
    Problem problem;
  };
  std::vector<Case> cases;
  for (const Runner& runner : runners()) {
    if (runner.device != DeviceKind::emulator || !runner.strategy->geometry) continue;
    for (const auto& [w, h] :
         {std::pair{1, 1}, {5, 5}, {4, 7}, {3, 3}, {31, 2}, {1, 9}, {40, 3}, {15, 15}, {33, 33}}) {
      // A mask of many taps takes the emulator seconds.
      if (!full_size() && w * h > 100 && runner.tuning != Tuning{}) continue;
      for (const Mode mode : kModes) {
        // A constant border makes ghost cells up, any other reads them, and a valid result has
        // none.
        const Border reads = w == 5 ? Border::reflect101 : Border::replicate;
        for (const Border border : {Border::constant, reads}) {
          if (mode != Mode::same && border != Border::constant) continue;
          Problem p = problem_of(integer_rank_one_mask(random, w, h, 3), w == 33 ? 40 : 70,
                                 w == 33 ? 36 : 50);
          if (w == 4) p.mask = anchored(p.mask, 0, h - 1);
          p.mode = mode;
          p.border = border;
          if (runner.strategy->refusal(p, runner.tuning).empty()) cases.push_back({runner, p});
        }
      }
    }
  }
  Numbers<std::pair<int, int>> sides;
  cases = by_pairs(std::move(cases), [&](const Case& c) {
    const Problem& p = c.problem;
    const Levels runner = levels_of(c.runner);
    const int way = p.border == Border::constant ? int(p.mode) : 3;
    return Levels{runner[0], runner[1], sides({p.mask.width, p.mask.height}), way};
  });
  for (const auto& [runner, p] : cases) {
    const Explanation e = explain(*runner.strategy, p, runner.tuning, h200());
    INFO(to_string(runner) << ", " << to_string(p));
    const auto differences = e.differences();
    CHECK(differences.empty());
    for (const std::string& difference : differences) MESSAGE(difference);
    // No count can tell where the halo lies, so it is checked where a tile has the whole halo.
    const Geometry& g = *e.geometry;
    if (g.in_columns == g.step_x() + e.problem.mask.width - 1)
      CHECK(g.lead_x == e.problem.mask.anchor_x);
    if (g.in_rows == g.step_y() + e.problem.mask.height - 1)
      CHECK(g.lead_y == e.problem.mask.anchor_y);
    middles += e.middle.formula && e.middle.count;
    pictures += e.ghosts_out.formula && e.ghosts_out.count;
  }
  // These are the textbook's five strategies at the least.
  CHECK(middles >= 5 * 8);
  CHECK(pictures >= 4 * 8);
}

TEST_CASE("a wrong geometry is found out") {
  if (emulator_missing()) return;
  Strategy wrong = *find_strategy("tiled-in");
  const Problem p = problem_of(box_mask(5, 5));
  static Geometry (*const right)(const Problem&, const Tuning&) = wrong.geometry;
  const auto differences = [&] { return explain(wrong, p, with_tile(8), h200()).differences(); };
  CHECK(differences().empty());

  wrong.geometry = [](const Problem& q, const Tuning& t) {
    Geometry g = right(q, t);
    g.loads += 1;
    return g;
  };
  REQUIRE(differences().size() == 1);
  CHECK(differences()[0] ==
        "tiled-in, a block in the middle: 145 reads and 0 ghost cells by "
        "formula, 144 reads and 0 ghost cells by count");
  CHECK(to_text(explain(wrong, p, with_tile(8), h200())).find("FORMULA AND COUNT DIFFER") !=
        std::string::npos);

  wrong.geometry = [](const Problem& q, const Tuning& t) {
    Geometry g = right(q, t);
    g.in_columns += 1;
    g.loads = g.in_columns * g.in_rows;
    return g;
  };
  CHECK(differences().size() ==
        3);  // of the block, and of the picture with ghost cells and without

  wrong.geometry = [](const Problem& q, const Tuning& t) {
    Geometry g = right(q, t);
    g.out_columns = g.in_columns;
    return g;
  };
  CHECK(differences().size() >= 1);
}

TEST_CASE("a mask in parts is explained by its first part") {
  if (emulator_missing()) return;
  const Explanation e = explained("tiled-out", problem_of(box_mask(70, 33)), with_tile(16));
  CHECK(e.parts == 6);
  CHECK(e.problem.mask.width == 23);
  CHECK(e.problem.mask.height == 16);
  CHECK(agreed(e.middle) == (16 + 22) * (16 + 15));
  CHECK(e.differences().empty());
}

TEST_CASE("a large picture is counted on a smaller one with the same edges") {
  if (emulator_missing()) return;
  const Explanation e =
      explained("tiled-in", problem_of(box_mask(15, 15), 20011, 15013), with_tile(16));
  CHECK(e.counted.width < 1000);
  CHECK(e.counted.width % 16 == 20011 % 16);
  CHECK(e.counted.height % 16 == 15013 % 16);
  CHECK(e.axes.blocks() == 1251 * 939);
  agreed(e.ghosts_out);
  agreed(e.with_border);
}

TEST_CASE(
    "ghost cells that a border reads are told apart from those that are made up, as -v counts") {
  if (emulator_missing()) return;
  const auto told = [](Border border, Mode mode = Mode::same) {
    Problem p = problem_of(box_mask(5, 5), 200, 120);
    p.border = border;
    p.mode = mode;
    const std::string text = to_text(explained("tiled-in", p));
    const std::size_t at = text.find("  ghost cells  ");
    REQUIRE(at != text.npos);
    return text.substr(at + 21, text.find('\n', at) - at - 21);
  };
  CHECK(told(Border::constant) ==
        "4896 of 41600 samples asked for; made up instead of read, as -v counts them");
  CHECK(told(Border::replicate) ==
        "4896 of 41600 samples asked for; border replicate reads others instead, and -v counts 0");
  CHECK(told(Border::wrap).find("border wrap reads others instead") != std::string::npos);
}

TEST_CASE("a strategy without blocks says so") {
  if (emulator_missing()) return;
  const auto text = [](const char* name) {
    return to_text(explained(name, problem_of(box_mask(3, 3))));
  };
  CHECK(text("cpu").find("block              none to explain: it runs on the CPU alone") !=
        std::string::npos);
  CHECK(text("fft").find("block              none to explain: a library computes the sums") !=
        std::string::npos);
  CHECK(text("two-pass").find("block              none to explain: ") != std::string::npos);
  CHECK(text("im2col").find("block              none to explain: a library computes the sums") !=
        std::string::npos);
  CHECK(text("basic").find("none to explain") == std::string::npos);
  // coarse has kernels of its own for all it does.
  const std::string coarse = to_text(explained("coarse", problem_of(gaussian_mask(65, 65, 16))));
  CHECK(coarse.find("none to explain: several kernels") != std::string::npos);
  CHECK(coarse.find("library") == std::string::npos);
}

TEST_CASE("a drawing names a block in the middle only where it is whole, and inside the image") {
  if (emulator_missing()) return;
  const auto drawn = [](int width, int height) {
    return explained("unrolled", problem_of(box_mask(5, 5), width, height));
  };
  // Two blocks of 128 columns across 200: the second reaches 56 columns beyond.
  CHECK(!shows_middle(drawn(200, 120)));
  CHECK(tile_picture(drawn(200, 120)).script.find("'B, edge") != std::string::npos);
  CHECK(shows_middle(drawn(400, 240)));
  CHECK(tile_picture(drawn(400, 240)).script.find("'B, middle") != std::string::npos);
}

TEST_CASE("blocks per SM, by hand") {
  const auto check = [](const char* name, int threads, std::size_t shared, int blocks,
                        std::vector<std::string_view> limits) {
    INFO(name << ' ' << threads << ' ' << shared);
    const Occupancy o = occupancy(find_architecture(name), threads, shared);
    CHECK(o.blocks == blocks);
    CHECK(o.threads == blocks * threads);
    CHECK(o.limited_by == limits);
  };
  // 400 threads are 13 warps, 416 threads: 2048 / 416 = 4.9.
  check("sm_90", 400, 1024, 4, {"warps"});
  // (48 + 1) KiB a block: 228 / 49 = 4.7.
  check("sm_90", 256, 48 * 1024, 4, {"shared memory"});
  check("sm_90", 32, 0, 32, {"blocks"});
  check("sm_75", 256, 0, 4, {"threads"});
  // 20,000 bytes become 79 units of 256: 65,536 / 20,224 = 3.2.
  check("sm_75", 256, 20000, 3, {"shared memory"});
  check("sm_86", 1024, 0, 1, {"threads"});
  check("sm_89", 64, 0, 24, {"threads", "blocks"});
  check("sm_90", 1025, 0, 0, {"threads"});
  CHECK_THROWS_WITH_AS(find_architecture("sm90"),
                       "unknown architecture 'sm90'; did you mean 'sm_90'?", UsageError);
}

TEST_CASE("rows in memory: pitch, and what is lost if packed") {
  for (const auto& [width, depth] :
       {std::pair{200, Depth::u8}, {1920, Depth::u8}, {33, Depth::u16}, {101, Depth::f32}}) {
    Problem p = problem_of(box_mask(1, 1), width, 4);
    p.depth = depth;
    const RowLayout rows = explained("cpu", p).rows;
    CHECK(rows.bytes == width * std::int64_t(size_of(depth)));
    CHECK(rows.pitch % kPitchBytes == 0);
    CHECK(rows.pitch - rows.bytes < kPitchBytes);
    double lost = 0;  // where packed rows begin in a line, over a whole period
    for (int y = 0; y < kPitchBytes; ++y) lost += double(y * rows.bytes % kPitchBytes);
    CHECK(rows.lost_if_packed == doctest::Approx(lost / double(kPitchBytes) / double(kPitchBytes)));
  }
}

TEST_CASE("every strategy is explained, with or without blocks; a refusal says why") {
  for (const Strategy* strategy : strategies()) {
    const Problem p = problem_of(box_mask(3, 3));
    if (!strategy->refusal(p).empty()) continue;
    const Explanation e = explain(*strategy, p, {}, h200());
    const std::string text = to_text(e);
    CHECK(text.starts_with(std::string(strategy->name) + ": "));
    // The bounds of depths that the strategy takes, and of no other.
    const std::string bound(bound_of(strategy->family));
    CHECK(text.find("within " + bound.substr(0, bound.find(", "))) != text.npos);
    Problem floats = p;
    floats.depth = Depth::f32;
    CHECK((text.find(" f32") != text.npos) == strategy->refusal(floats).empty());
    if (e.geometry) {
      CHECK(tile_picture(e).script.find("'" + std::string(strategy->name) + ", mask 3x3") !=
            std::string::npos);
    } else {
      CHECK_THROWS_AS(tile_picture(e), UsageError);
    }
  }
  Problem refused = problem_of(box_mask(5, 5), 3, 3);
  refused.mode = Mode::valid;
  CHECK_THROWS_AS(explained("basic", refused), UsageError);
}

}  // namespace convfilt::test
