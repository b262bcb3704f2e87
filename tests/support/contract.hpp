/// The numeric contract as bounds: how far a result may be from the truth, and what is refused.
#pragma once

#include <string>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"
#include "tests/support/environment.hpp"

namespace convfilt::test {

/// How far a computed sample may be from the real-valued, saturated result, by the numeric
/// contract. `largest` is the largest |sample|, ghost cells included.
double allowed_error(const Problem& problem, Family family, double largest);

/// Why a runner cannot do the problem: its family's arithmetic, or what its algorithm is not made
/// for; empty when it can. What Strategy::refusal must agree with.
std::string expected_refusal(const Problem& problem, const Runner& runner);

}  // namespace convfilt::test
