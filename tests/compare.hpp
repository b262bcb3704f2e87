/// Holds strategies against the oracle and against each other.
#pragma once

#include "cases.hpp"
#include "environment.hpp"
#include "picture.hpp"
#include "strategy.hpp"

namespace convfilt::test {

/// How far a computed sample may be from the real-valued, saturated result, by the numeric
/// contract. `largest` is the largest |sample|, ghost cells included.
double allowed_error(const Problem& problem, Family family, double largest);

/// Why a runner cannot do the problem: its family's arithmetic, or what its algorithm is not made
/// for; empty when it can. What Strategy::refusal must agree with.
std::string expected_refusal(const Problem& problem, const Runner& runner);

/// Puts the case to every runner: refusals as expected, every sample written and nothing else,
/// within the contract of the oracle, and the same bytes from all runners of a family. Each failure
/// says the problem, the runner, and the first bad sample with both values.
void check_case(const Case& test_case);

/// Runs a strategy on a picture. Counts the run.
Picture run(const Runner& runner, const Problem& problem, const Picture& in,
            const PlanOptions& options = {}, Timing* timing = nullptr);

}  // namespace convfilt::test
