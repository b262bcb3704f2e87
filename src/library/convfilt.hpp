/// The interface for other programs: make a plan for a problem, and run it on many pictures.
///
///     convfilt::Problem problem{640, 480, 3};        // 8 bits, replicate, mode same
///     problem.mask = convfilt::load_mask("gaussian5");
///     const auto plan = convfilt::make_plan(problem);
///     plan->run(in, out);
#pragma once

#include <memory>
#include <string>

#include "kernels/plan.hpp"
#include "kernels/problem.hpp"

namespace convfilt {

/// How to choose and run a plan, in the words of `convfilt --strategy` and `--device`.
struct PlanRequest {
  std::string strategy = "auto";  ///< auto, or a name of `convfilt list strategies`
  std::string device = "auto";    ///< auto, cpu, cuda, cuda:N, or emulator, which is slow
  int threads = 0;                ///< CPU threads, up to 1024; 0 = all cores
  int pictures = 1;  ///< how many the plan will filter; a GPU pays sooner where there are many
};

/// A mask from a text file, or a shipped mask by its name (`convfilt list masks`). A word with a
/// '/' is a path. An ambiguous grid causes a warning on standard error. Throws
/// std::runtime_error; the message names the file, the place and the remedy.
Mask load_mask(const std::string& path_or_name);

/// Chooses a strategy and a device for the problem, and prepares a plan. The family, and so the
/// bytes, depend on the problem alone; f32 pictures are transformed only where Problem::contrast
/// says that they may be. Device auto counts the time of copies to and from a GPU; for
/// pictures that lie on a GPU, name the device, since auto may take the CPU. Throws
/// std::runtime_error if the strategy refuses the problem, a number is out of range, a name is
/// unknown, or the device is missing or has too little memory. The plan throws it for pictures of
/// another shape.
std::unique_ptr<Plan> make_plan(const Problem& problem, const PlanRequest& request = {});

}  // namespace convfilt
