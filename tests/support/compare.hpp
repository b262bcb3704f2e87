/// Holds strategies against the oracle and against each other.
#pragma once

#include "kernels/strategy.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/contract.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {

/// Puts the case to every runner: refusals as expected, every sample written and nothing else,
/// within the contract of the oracle, and the same bytes from all runners of a family. Each failure
/// says the problem, the runner, and the first bad sample with both values.
void check_case(const Case& test_case);

/// Runs a strategy on a picture. Counts the run.
Picture run(const Runner& runner, const Problem& problem, const Picture& in,
            const PlanOptions& options = {}, Timing* timing = nullptr);

}  // namespace convfilt::test
