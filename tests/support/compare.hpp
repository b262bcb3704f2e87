/// Holds strategies against the oracle and against each other.
#pragma once

#include "kernels/strategy.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/contract.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {

/// Puts the case to every runner. It checks that runners refuse what they must, write every sample
/// and nothing else, keep to the contract's distance from the oracle, and give the same bytes as
/// the others of their family. Each failure says the problem, the runner, and the first bad sample
/// with both values.
void check_case(const Case& test_case);

/// Runs a strategy on a picture. Counts the run.
Picture run(const Runner& runner, const Problem& problem, const Picture& in,
            const PlanOptions& options = {}, Timing* timing = nullptr);

/// The largest difference of two samples of results of the problem in mode same.
double furthest_from(const Picture& one, const Picture& other, const Problem& p);

}  // namespace convfilt::test
