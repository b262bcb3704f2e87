/// Rows of edges in vectors, against the same in plain double precision.
#include "kernels/cpu/edge_rows.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "src/picture/colour.hpp"
#include "src/picture/sample_type.hpp"
#include "tests/support/vector_targets.hpp"

using namespace convfilt;

namespace {

/// Rows of random responses, of which some are equal, 0, or near a sample and a half.
std::vector<std::vector<float>> random_rows(std::size_t count, int n) {
  std::mt19937 engine(3);
  std::uniform_real_distribution<float> any(-300, 300);
  std::vector<std::vector<float>> rows(count, std::vector<float>(std::size_t(n)));
  for (auto& row : rows)
    for (int x = 0; x < n; ++x)
      row[std::size_t(x)] = x % 7 == 0   ? 0
                            : x % 7 == 1 ? std::nearbyint(any(engine)) + 0.5f
                            : x % 7 == 2 ? rows[0][std::size_t(x)]
                            : x % 7 == 3 ? any(engine) / 100
                                         : any(engine);
  return rows;
}

double joined(Join join, const ResponseRows& responses, int x) {
  double all = 0;
  for (std::size_t k = 0; k < responses.size(); ++k) {
    const ResponseRow& response = responses[k];
    const double one = response.row[x] / response.divisor + response.offset;
    switch (join) {
      case Join::length: all = k == 0 ? std::abs(one) : std::sqrt(all * all + one * one); break;
      case Join::compass: all = std::max(all, one); break;
      case Join::sum: all = k == 0 ? one : all + one; break;
      case Join::max: all = k == 0 ? one : std::max(all, one); break;
      case Join::first_strongest: all = k == 0 || std::abs(one) > std::abs(all) ? one : all; break;
    }
  }
  return all;
}

/// Calls check(join, responses, n) for each way to join one to eight rows of each length.
template <class Check>
void for_joins(const Check& check) {
  for (const int n : {1, 7, 16, 61, 200}) {
    auto rows = random_rows(64, n);
    // Of many squares, singles lose those that are small beside the first.
    for (auto& row : rows) row[0] = &row == rows.data() ? 1.7f * 181.4997f : 1.7f * 0.044f;
    for (const std::size_t count : {1, 2, 8, 64})
      for (const bool alike : {true, false}) {
        ResponseRows responses;
        for (std::size_t k = 0; k < count; ++k)
          responses.push_back(
              {rows[k].data(), alike ? 1.7 : 1.0 + double(k), alike ? 0 : double(k % 3)});
        for (const Join join :
             {Join::length, Join::compass, Join::sum, Join::max, Join::first_strongest})
          check(join, responses, n);
      }
  }
}

}  // namespace

TEST_CASE("luma of every colour") {
  constexpr int kColours = 1 << 16;
  std::vector<std::uint8_t> pixels(std::size_t(kColours) * 3);
  std::vector<float> luma(kColours);
  bool all = true;
  for (int red = 0; red < 256; ++red) {
    for (int i = 0; i < kColours; ++i) {
      pixels[std::size_t(i) * 3] = std::uint8_t(i);
      pixels[std::size_t(i) * 3 + 1] = std::uint8_t(i >> 8);
      pixels[std::size_t(i) * 3 + 2] = std::uint8_t(red);
    }
    edge_loops().weigh_bytes(pixels.data(), kLumaShares, kLumaWhole, kColours, luma.data());
    for (std::size_t i = 0; i < luma.size(); ++i)
      all = all && luma[i] == float(luma_of(pixels.data() + i * 3));
  }
  CHECK(all);
}

TEST_CASE("luma of floats") {
  constexpr std::size_t kPixels = 61;
  const std::vector<float> pixels = random_rows(1, int(kPixels) * 3)[0];
  std::vector<float> luma(kPixels + 1, -7);
  edge_loops().weigh_floats(pixels.data(), kLuma, int(kPixels), luma.data());
  for (std::size_t i = 0; i < kPixels; ++i) CHECK(luma[i] == float(luma_of(pixels.data() + i * 3)));
  CHECK(luma.back() == -7);
}

TEST_CASE("answers") {
  for_joins([](Join join, const ResponseRows& responses, int n) {
    std::vector<double> answers(std::size_t(n) + 1, -7);
    std::vector<float> from(std::size_t(n) + 1, -7);
    std::vector<std::uint8_t> bytes(std::size_t(n) + 1, 77);
    edge_loops().answers(join, responses, n, answers.data());
    const float least = 30;
    edge_loops().answers_from(least, join, responses, n, from.data());
    edge_loops().answer_bytes(join, responses, nullptr, n, bytes.data());
    for (int x = 0; x < n; ++x) {
      const std::size_t i = std::size_t(x);
      const double right = joined(join, responses, x);
      CHECK(answers[i] == right);
      CHECK((from[i] == float(right) || (from[i] < least && float(right) < least)));
      CHECK(bytes[i] == to_sample<std::uint8_t>(right));
    }
    for (const double threshold : {0.0, 40.0, joined(join, responses, n / 2)}) {
      if (threshold < 0) continue;
      edge_loops().answer_bytes(join, responses, &threshold, n, bytes.data());
      for (int x = 0; x < n; ++x)
        CHECK(bytes[std::size_t(x)] == (joined(join, responses, x) >= threshold ? 255 : 0));
    }
    CHECK(answers.back() == -7);
    CHECK(from.back() == -7);
    CHECK(bytes.back() == 77);
  });
}

TEST_CASE("thin rows leave what single precision cannot tell") {
  constexpr int kColumns = 100;
  auto rows = random_rows(5, kColumns);
  for (std::size_t x = 0; x < kColumns; x += 9) {  // 22.5 degrees, as near as floats come
    rows[3][x] = 100;
    rows[4][x] = 100 * 0.41421356237f;
  }
  for (std::size_t k = 0; k < 3; ++k)
    for (float& answer : rows[k]) answer = std::abs(answer);
  const ResponseRow across{rows[3].data(), 1.5, 0}, down{rows[4].data(), 1.5, 0};
  std::vector<float> thin(kColumns, -7);
  std::vector<int> unsure;
  edge_loops().thin({rows[0].data(), rows[1].data(), rows[2].data(), across, down}, 20, kColumns,
                    thin.data(), unsure);
  CHECK(std::ranges::count(unsure, 0) == 1);
  CHECK(std::ranges::count(unsure, kColumns - 1) == 1);
  int stay = 0;
  for (int x = 1; x + 1 < kColumns; ++x) {
    const std::size_t i = std::size_t(x);
    if (std::ranges::count(unsure, x) > 0) continue;
    const double a = rows[3][i] / 1.5, d = rows[4][i] / 1.5;
    const double tangent = std::sqrt(2.0) - 1;
    if (rows[1][i] >= 20) CHECK(std::abs(std::abs(d) - tangent * std::abs(a)) > 1e-6);
    int dx = 1, dy = 1;
    if (std::abs(d) <= tangent * std::abs(a))
      dy = 0;
    else if (std::abs(a) < tangent * std::abs(d))
      dx = 0;
    else if ((a < 0) != (d < 0))
      dy = -1;
    const float answer = rows[1][i];
    const float before = rows[std::size_t(1 - dy)][std::size_t(x - dx)];
    const float behind = rows[std::size_t(1 + dy)][std::size_t(x + dx)];
    const bool stays = answer >= 20 && answer > before && answer >= behind;
    CHECK(thin[i] == (stays ? answer : 0));
    stay += stays;
  }
  CHECK(stay > 5);
}

TEST_CASE("marks") {
  std::vector<float> answers;
  for (int x = 0; x < 50; ++x) answers.push_back(float(x));
  std::vector<std::uint8_t> marks(51, 9);
  edge_loops().mark(answers.data(), 10, 30, 64, 128, 50, marks.data());
  for (int x = 0; x < 50; ++x) CHECK(marks[std::size_t(x)] == (x >= 30 ? 128 : x >= 10 ? 64 : 0));
  CHECK(marks[50] == 9);
}

TEST_CASE("responses to masks of whole weights, by every instruction set that this machine has") {
  const std::vector<Mask> masks = {make_mask("a", 3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}),
                                   make_mask("b", 3, 3, {3, -7, 5, 0, 0, 0, -4, 2, 6}),
                                   make_mask("c", 3, 3, std::vector<double>(9, 0))};
  std::mt19937 engine(5);
  constexpr int kMost = 150, kChannels = 3;
  std::vector<std::vector<std::uint8_t>> rows(3, std::vector<std::uint8_t>(kMost + 200));
  for (auto& row : rows)
    for (std::uint8_t& sample : row) sample = std::uint8_t(engine());
  const std::uint8_t* const under[] = {rows[0].data(), rows[1].data(), rows[2].data()};
  const WholeTaps taps = whole_taps(masks, kChannels);
  REQUIRE(taps.size() == masks.size());
  const auto response = [&](const Mask& mask, int x) {
    double sum = 0;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i) sum += mask.weight(i, j) * under[j][x + i * kChannels];
    return sum;
  };
  with_each_target([&] {
    for (const int n : {1, 7, 31, 32, 63, 64, 65, kMost}) {
      std::vector<std::uint8_t> length(std::size_t(n) + 1, 77), largest = length;
      edge_loops().length(taps, under, n, length.data());
      edge_loops().largest(taps, under, n, largest.data());
      for (int x = 0; x < n; ++x) {
        const double a = response(masks[0], x), b = response(masks[1], x);
        CHECK(length[std::size_t(x)] == to_sample<std::uint8_t>(std::sqrt(a * a + b * b)));
        CHECK(largest[std::size_t(x)] == to_sample<std::uint8_t>(std::max({a, b, 0.0})));
      }
      CHECK(length.back() == 77);
      CHECK(largest.back() == 77);
    }
  });
  CHECK(whole_taps({masks[0], make_mask("thin", 3, 1, {1, 2, 1})}, 1).empty());
  CHECK(whole_taps({make_mask("half", 1, 1, {0.5})}, 1).empty());
  CHECK(whole_taps({make_mask("large", 1, 1, {129})}, 1).empty());
}
