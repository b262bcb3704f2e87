/// Tables, CSV, JSON and charts of comparisons made by hand.
#include "src/lab/compare/report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "src/base/errors.hpp"
#include "src/base/table.hpp"
#include "src/lab/compare/plot.hpp"
#include "tests/support/gnuplot.hpp"

namespace convfilt::test {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

long lines_in(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

Row timed_row(const std::string& name, const Location& location, double ms) {
  Row row;
  row.contender = name;
  row.location = location;
  row.width = 640;
  row.height = 480;
  row.times = Times{{ms, 0.1}, 5, 1e9 / 3, 2e9 / 3, 2.5, 9, 7.5, 6e9, 0.4, false, 1.0 / 7, 1.25};
  row.accuracy = Accuracy{0.5, 307200, 307200, 480, 0.52, 0.0, 0, 0.0};
  return row;
}

/// One of each kind of row, with names that need quoting.
Comparison sample() {
  Comparison c;
  c.problem = {640, 480, 1, Depth::u8, Border::replicate, 0, {}};
  c.problem.mask = make_mask("a \"b\", c", 3, 3, std::vector<double>(9, 1), 9);
  c.devices = {{{DeviceKind::cuda, 1}, {"Some GPU", 0, 6e13}, 0.125, 4e12},
               {{DeviceKind::emulator, 0}, {"Some CPU", 8, 0}, 0, 0}};
  c.auto_choice = "fast on cuda:1 (as it pays)";
  c.rows.push_back(timed_row("fast:tile=16", {DeviceKind::cuda, 1}, 1.0 / 3));
  c.rows.back().by_auto = true;
  Row counted;
  counted.contender = "slow";
  counted.location = {DeviceKind::emulator, 0};
  counted.width = counted.height = 160;
  counted.counted = Counted{1.25, 9, 0.125, 0.5, 7.2, 1, 0, {}, {}};
  counted.accuracy = Accuracy{std::numeric_limits<double>::infinity(), 99, 25600, 3, {}, {}, 0, {}};
  c.rows.push_back(counted);
  Row refused;
  refused.contender = "never";
  refused.refused = true;
  refused.refusal = "only 1x1 | masks, \"here\"";
  c.rows.push_back(refused);
  return c;
}

const ReportHead kHead{"1.2.3", "photo.png"};

/// Takes CSV apart as RFC 4180 says.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines(1);
  lines.back().emplace_back();
  bool quoted = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    std::string& cell = lines.back().back();
    if (quoted && text[k] == '"' && k + 1 < text.size() && text[k + 1] == '"') {
      cell += text[k++];
    } else if (text[k] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[k] == ',') {
      lines.back().emplace_back();
    } else if (!quoted && text[k] == '\n') {
      lines.emplace_back(1);
    } else {
      cell += text[k];
    }
  }
  lines.pop_back();
  return lines;
}

}  // namespace

TEST_CASE("a JSON report is read as it was written") {
  const std::vector<Comparison> written = {sample(), sample()};
  const std::string text = json_report(written, kHead);
  ReportHead head;
  const std::vector<Comparison> read = read_json_report(text, "all.json", head);
  CHECK(json_report(read, head) == text);
  CHECK(text_report(read, head) == text_report(written, kHead));
  CHECK(markdown_report(read, head) == markdown_report(written, kHead));
  ReportHead brief = kHead;
  brief.table = TableKind::brief;
  read_json_report(json_report(written, brief), "all.json", head);
  CHECK(head.table == TableKind::brief);
  for (const char* wrong : {"", "{}", "[1, 2]", "{\"convfilt_version\": 1}", "not JSON"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH_AS(read_json_report(wrong, "all.json", head),
                         doctest::Contains("all.json: not what convfilt compare --json writes"),
                         IoError);
    CHECK_THROWS_WITH(read_json_report(wrong, "all.json", head),
                      doctest::Contains("; run compare --json again with this version"));
    try {
      read_json_report(wrong, "all.json", head);
    } catch (const IoError& error) {
      CHECK_FALSE(contains(error.what(), "json.exception"));
    }
  }
  std::string misspelt = text;
  misspelt.replace(misspelt.find("\"u8\""), 4, "\"u9\"");
  CHECK_THROWS_WITH(read_json_report(misspelt, "all.json", head),
                    doctest::Contains("unknown name 'u9'"));
}

TEST_CASE("a JSON report whose figures of one kind are null in part is refused") {
  const Comparison c = sample();
  const auto report = nlohmann::ordered_json::parse(json_report({&c, 1}, kHead));
  const auto read_with = [&](std::size_t row, const char* key,
                             const nlohmann::ordered_json& value) {
    nlohmann::ordered_json changed = report;
    nlohmann::ordered_json& field = changed["comparisons"][0]["rows"][row].at(key);
    REQUIRE(field.is_null() != value.is_null());
    field = value;
    ReportHead head;
    return read_json_report(changed.dump(), "all.json", head);
  };
  for (const auto& [row, key] :
       std::vector<std::pair<std::size_t, const char*>>{{0, "kernel_ms_median"},
                                                        {0, "roofline_bound"},
                                                        {0, "samples_checked"},
                                                        {0, "rows_checked"},
                                                        {1, "global_reads_per_output"},
                                                        {1, "barriers_per_block"},
                                                        {1, "largest_difference"}}) {
    CAPTURE(std::string(key));
    CHECK_THROWS_WITH_AS(read_with(row, key, nullptr),
                         doctest::Contains((std::string("compare --json writes: ") + key +
                                            " is null, but other figures beside it are not")
                                               .c_str()),
                         IoError);
  }
  // Row 1 has no times, so one that is there alone would be dropped.
  CHECK_THROWS_WITH(read_with(1, "runs", 5), doctest::Contains("kernel_ms_median is null, but"));
  CHECK_THROWS_WITH(read_with(1, "own_flop_per_byte", 5),
                    doctest::Contains("kernel_ms_median is null, but"));
  CHECK(read_with(0, "own_flop_per_byte", nullptr)[0].rows[0].times.has_value());
  CHECK(read_with(1, "taps_per_access", nullptr)[0].rows[1].counted->reuse == 0);
}

TEST_CASE("figures have three digits that count, and no exponent") {
  CHECK(figure(0) == "0");
  CHECK(figure(1) == "1.00");
  CHECK(figure(12.345) == "12.3");
  CHECK(figure(123456) == "123456");
  CHECK(figure(0.00123456) == "0.00123");
  CHECK(figure(-2.5) == "-2.50");
  CHECK(figure(std::numeric_limits<double>::infinity()) == "infinite");
  CHECK(grouped(7) == "7");
  CHECK(grouped(1234567) == "1 234 567");
  CHECK(grouped(100) == "100");
}

TEST_CASE("columns are as wide as their widest cell") {
  const Table table{{"name", "ms"}, 1, {{{"\u00d7\u00d7", "1.5"}, ""}, {{"longer"}, "refused"}}};
  CHECK(as_text(table) ==
        "  name     ms\n"
        "  \u00d7\u00d7      1.5\n"
        "  longer  refused\n");
  CHECK(as_markdown({{"a|b", "n"}, 1, {{{"x", "1"}, ""}}}) ==
        "| a\\|b | n |\n|---|---:|\n| x | 1 |\n");
}

TEST_CASE("a table that is too wide comes in pieces, each with the columns of words") {
  const Table table{{"name", "one", "two", "three"},
                    1,
                    {{{"a", "1", "2", "3"}, ""}, {{"b"}, "refused"}, {{"c", "4", "5"}, ""}}};
  const std::string whole =
      "  name  one  two  three\n"
      "  a       1    2      3\n"
      "  b     refused\n"
      "  c       4    5\n";
  CHECK(as_text(table) == whole);
  CHECK(as_text(table, 23) == whole);
  CHECK(as_text(table, 22) ==
        "  name  one  two\n"
        "  a       1    2\n"
        "  b     refused\n"
        "  c       4    5\n"
        "\n"
        "  name  three\n"
        "  a         3\n"
        "  c\n");
  CHECK(as_text(table, 1).find("\n\n  name  three\n") != std::string::npos);
  CHECK(as_text({{}, 2, {{{"a", "b"}, ""}}}, 1) == "  a  b\n");
  CHECK(as_text({}, 80).empty());
}

TEST_CASE("the table shows every row, marks auto's choice, and emulated times nowhere") {
  const Comparison c = sample();
  const std::string text = text_report({&c, 1}, kHead);
  CHECK(contains(text, "photo.png: 640x480x1 u8"));
  CHECK(contains(text, "fast:tile=16 *"));
  CHECK(contains(text, "cuda:1: Some GPU; a copy of as many bytes: 0.125 ms, 4000 GB/s"));
  CHECK(contains(text, "only 1x1 | masks"));
  CHECK(contains(text, "160x160"));
  CHECK(contains(text, "7.20"));
  CHECK(contains(text, "infinite"));
  CHECK(contains(text, "in steps"));
  Comparison counted = c;
  counted.rows = {c.rows[1]};
  counted.devices = {c.devices[1]};
  const std::string emulated = text_report({&counted, 1}, kHead);
  for (const char* word : {"kernel ms", "GB/s", "x copy", "of roof"})
    CHECK_FALSE(contains(emulated, word));
  CHECK(contains(markdown_report({&c, 1}, kHead), "only 1x1 \\| masks"));
  CHECK(contains(markdown_report({&c, 1}, kHead), "|---|---|---|---:|"));
}

TEST_CASE("a note of Markdown is one bullet, and shows what Markdown would take as its own") {
  Comparison c = sample();
  const std::string text = markdown_report({&c, 1}, {"1.2.3", "my_*`<b>|photo.png"});
  CHECK(contains(text, "## my\\_\\*\\`\\<b>\\|photo.png"));
  CHECK(contains(text, "\n- \\* is what auto takes\n"));
  CHECK(contains(text, "| fast:tile=16 \\* |"));
  CHECK(contains(text, "of up to 5 runs, with the pixels already on the device"));
  CHECK(contains(text, "whichever binds, as a share of the time; above"));
  CHECK_FALSE(contains(text, "\n- tap"));
  c.rows[0].by_auto = false;
  CHECK_FALSE(contains(markdown_report({&c, 1}, kHead), "is what auto takes"));
  CHECK_FALSE(contains(text_report({&c, 1}, kHead), "is what auto takes"));
}

TEST_CASE("JSON comes back with every figure in full") {
  const Comparison c = sample();
  const auto json = nlohmann::json::parse(json_report({&c, 1}, kHead));
  CHECK(json["convfilt_version"] == "1.2.3");
  const auto& one = json["comparisons"][0];
  CHECK(one["problem"]["mask"] == "a \"b\", c");
  CHECK(one["devices"][0]["fp32_peak_flop_per_s"] == 6e13);
  CHECK(one["devices"][1]["copy_ms"].is_null());
  const auto& rows = one["rows"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["kernel_ms_median"].get<double>() == 1.0 / 3);
  CHECK(rows[0]["pixels_per_s"].get<double>() == 1e9 / 3);
  CHECK(rows[0]["speed_over_basic"].get<double>() == 1.0 / 7);
  CHECK(rows[0]["roofline_bound"] == "fp32");
  CHECK(rows[0]["direct_flop_per_byte"] == 9);
  CHECK(rows[0]["own_flop_per_byte"] == 7.5);
  CHECK(rows[0]["time_over_best"] == 1.25);
  CHECK(rows[0]["promised_difference"] == 0.52);
  CHECK(rows[0]["rows_checked"] == 480);
  CHECK(rows[1]["promised_difference"].is_null());
  CHECK(json["table"] == "full");
  CHECK(rows[0]["by_auto"] == true);
  CHECK(rows[0]["taps_per_access"].is_null());
  CHECK(rows[1]["kernel_ms_median"].is_null());
  CHECK(rows[1]["taps_per_access"].get<double>() == 7.2);
  CHECK(rows[1]["largest_difference"] == "infinite");
  CHECK(rows[1]["share_differing_from_cpu"].is_null());
  CHECK(rows[2]["refusal"] == "only 1x1 | masks, \"here\"");
  CHECK(rows[2]["measured_width_px"].is_null());
}

TEST_CASE("CSV has one line a row, the figures of JSON, and quotes what needs it") {
  const Comparison both[] = {sample(), sample()};
  const std::string csv = csv_report(both, kHead);
  const auto lines = parse_csv(csv);
  REQUIRE(lines.size() == 7);
  CHECK(lines_in(csv) == 7);
  for (const auto& line : lines) CHECK(line.size() == lines[0].size());
  const auto cell = [&](std::size_t line, const std::string& name) {
    const auto column = std::find(lines[0].begin(), lines[0].end(), name);
    REQUIRE(column != lines[0].end());
    return lines[line][std::size_t(column - lines[0].begin())];
  };
  CHECK(cell(1, "mask") == "a \"b\", c");
  CHECK(std::stod(cell(1, "kernel_ms_median")) == 1.0 / 3);
  CHECK(cell(2, "kernel_ms_median").empty());
  CHECK(cell(3, "refusal") == "only 1x1 | masks, \"here\"");
  CHECK(cell(6, "strategy") == "never");
}

TEST_CASE("a name that is no UTF-8 does not stop a report") {
  Comparison c = sample();
  c.problem.mask.name = "\xff";
  CHECK(nlohmann::json::accept(json_report({&c, 1}, {"1", "\xfe.png"})));
}

TEST_CASE(
    "a strategy without a formula for its bytes is marked in the roofline, and has none in JSON") {
  Comparison c = sample();
  c.rows.push_back(timed_row("by a library", {DeviceKind::cuda, 1}, 1.0 / 3));
  c.rows.back().times->own_intensity.reset();
  const std::string script = draw_roofline({&c, 1}, kHead).script;
  CHECK(contains(script, "title 'by a library °'"));
  CHECK(contains(script, "title 'fast:tile=16'"));
  CHECK(contains(script, "above, and with °: per byte of picture and result"));
  CHECK(contains(script, "\n9 6\n"));  // where each byte of picture and result moves once
  const std::string json = json_report({&c, 1}, kHead);
  CHECK(nlohmann::json::parse(json)["comparisons"][0]["rows"][3]["own_flop_per_byte"].is_null());
  const Comparison one = sample();
  CHECK_FALSE(contains(draw_roofline({&one, 1}, kHead).script, "°"));
}

TEST_CASE("a roofline's page is as wide as all columns of its key") {
  const auto with_rows = [](int count) {
    Comparison c = sample();
    for (int k = 0; k < count; ++k)
      c.rows.push_back(timed_row("a-strategy-" + std::to_string(k), {DeviceKind::cuda, 1}, 1.0));
    return c;
  };
  const Comparison few = with_rows(5), many = with_rows(24), most = with_rows(45);
  const int width = draw_roofline({&few, 1}, kHead).size.width;
  // A column has the roof's name, which has 21 letters of 6 points at the least.
  CHECK(draw_roofline({&many, 1}, kHead).size.width >= width + 100);
  CHECK(draw_roofline({&most, 1}, kHead).size.width >= width + 250);
  if (testing::gnuplot_missing()) return;
  for (const Comparison* c : {&few, &many, &most}) {
    const Drawing drawing = draw_roofline({c, 1}, kHead);
    const auto svg = run_gnuplot(drawing.script, PlotFormat::svg, drawing.size);
    const std::string text(svg.begin(), svg.end());
    // Every name begins so far from the right edge that its letters fit.
    int names = 0;
    for (std::size_t at = text.find("translate("); at != text.npos;
         at = text.find("translate(", at + 1)) {
      const std::size_t end = text.find("</text>", at);
      const std::size_t name = text.find("a-strategy-", at);
      if (name == text.npos || name > end) continue;
      CHECK(std::stod(text.substr(at + 10)) + 6 * 13 < drawing.size.width);
      ++names;
    }
    CHECK(names > 0);
  }
}

TEST_CASE(
    "refused rows alone make one table, however narrow, and footnotes speak of rows that are "
    "there") {
  Comparison c = sample();
  c.rows = {c.rows[2]};
  const std::string narrow = text_report({&c, 1}, kHead, 60);
  const std::size_t head = narrow.find("strategy  family");
  REQUIRE(head != narrow.npos);
  CHECK(narrow.find("strategy  family", head + 1) == narrow.npos);

  c = sample();
  c.rows = {c.rows[1]};
  c.rows[0].counted = Counted{1.25, 9, 0.125, 0, 7.2, 1, 0, {}, {}};
  const auto note = [&] { return text_report({&c, 1}, kHead, 200); };
  CHECK(contains(note(), "reuse: taps in the image over global reads\n"));
  c.rows[0].counted->texture_fetches = 1;
  CHECK(contains(note(), "over global reads and texture fetches\n"));
  c.rows[0].counted->atomic_adds = 1;
  c.rows[0].counted->reuse = 0;
  CHECK(contains(note(),
                 "over global reads, texture fetches and atomic additions, blank where a "
                 "library does the work\n"));
}

TEST_CASE("charts are drawn of what there is") {
  if (testing::gnuplot_missing()) return;
  const Comparison comparisons[] = {sample(), sample(), sample(), sample(), sample()};
  for (const auto count : {1, 5}) {
    const std::span<const Comparison> some(comparisons, std::size_t(count));
    for (const auto& draw : {draw_bars, draw_roofline}) {
      const Drawing drawing = draw(some, kHead);
      const auto svg = run_gnuplot(drawing.script, PlotFormat::svg, drawing.size);
      const std::string text(svg.begin(), svg.end());
      CHECK(contains(text, "fast:tile=16"));
      CHECK(contains(text, "photo.png, 640x480x1 u8"));
      CHECK(contains(text, "</svg>"));
    }
  }
  // Points stand where the strategy itself reads and writes, masks where each byte moves once.
  const std::string roofline = draw_roofline(comparisons, kHead).script;
  CHECK(contains(roofline, "\n7.5 6\n"));
  CHECK(contains(roofline, "'3x3' 9)"));
  CHECK(contains(roofline, "\nplot (x * 4000 < 60000 ? x * 4000 : 60000) with lines"));
  const std::string folder(200, 'f');
  Comparison longest = sample();
  longest.rows[0].contender = std::string(80, 'n');
  const Drawing wide = draw_roofline({&longest, 1}, {"1.2.3", folder + "/photo.png"});
  CHECK_FALSE(contains(wide.script, folder));
  CHECK(wide.size.width > draw_roofline(comparisons, kHead).size.width + 300);
  Comparison other = sample();
  other.problem.channels = 3;
  const Comparison two[] = {sample(), other};
  CHECK_THROWS_AS(plot_comparisons("two.svg", two, kHead, PlotKind::bars), UsageError);
  Comparison nothing = sample();
  nothing.rows = {nothing.rows[2]};
  CHECK_THROWS_AS(draw_bars({&nothing, 1}, kHead), IoError);
  CHECK_THROWS_AS(draw_roofline({&nothing, 1}, kHead), IoError);
}

}  // namespace convfilt::test
