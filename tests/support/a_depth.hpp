/// Depths as types for TEST_CASE_TEMPLATE, which splits a long test case into one for each depth.
/// tests/gpu.sh runs these side by side.
#pragma once

#include <doctest/doctest.h>

#include <type_traits>

#include "kernels/problem.hpp"

namespace convfilt::test {

using OfU8 = std::integral_constant<Depth, Depth::u8>;
using OfU16 = std::integral_constant<Depth, Depth::u16>;
using OfF32 = std::integral_constant<Depth, Depth::f32>;

}  // namespace convfilt::test

TYPE_TO_STRING_AS("u8", convfilt::test::OfU8);
TYPE_TO_STRING_AS("u16", convfilt::test::OfU16);
TYPE_TO_STRING_AS("f32", convfilt::test::OfF32);
