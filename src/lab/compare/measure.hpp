/// Measures strategies beside each other on one problem: times, what bounds them, what the emulator
/// counts, and whether the results are right, on the picture or on crops of it. Prints nothing.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/auto/choice.hpp"
#include "src/lab/compare/comparison.hpp"
#include "src/lab/compare/oracle.hpp"
#include "src/picture/image.hpp"

namespace convfilt {

/// It is told of each step before the step is done.
using Progress = std::function<void(const std::string& what)>;

/// Picture and problem must agree. Throws UsageError and DeviceError where nothing can be measured
/// at all; what fails in one row is told in that row.
Comparison compare(const Problem& problem, const Image& picture, const CompareOptions& options,
                   const Machine& machine, DeviceLimits& limits, const Progress& progress);

/// Shared by all rows of a comparison.
struct Setup {
  const Problem& problem;
  const Image& picture;
  const CompareOptions& options;
  const Machine& machine;
  DeviceLimits& limits;

  /// Threads of the CPU that the options ask for.
  int threads() const { return useful_threads(options.request.threads, machine); }
};

/// Samples of the result.
inline double outputs_of(const Problem& problem) {
  return double(problem.out_width()) * problem.out_height() * problem.channels;
}

/// A part of the picture with its problem. It computes the real-valued result when first asked to
/// judge.
class Crop {
 public:
  /// The part of that problem's size in the picture's middle.
  Crop(const Setup& setup, const Problem& problem);

  const Problem& problem() const { return problem_; }
  PictureView<const std::byte> in() const { return picture_.view(); }

  /// A result, not initialised.
  Image blank_result() const;

  double outputs() const { return outputs_of(problem_); }
  std::size_t bytes()
      const;  ///< half of what picture and result take, which is what a copy moves each way

  /// How far a result is from the real-valued one, how far its family allows, and how much of it
  /// equals what `cpu` gives; in the separable family, what `separable` gives on the CPU.
  Accuracy judge(const Image& result, Family family);

 private:
  /// A strategy's result on the CPU: all of it, or some rows from its middle.
  struct Reference {
    Image image;              ///< empty where there is none
    int first = 0, rows = 0;  ///< the result's rows
    int offset = 0;           ///< where `first` lies in the image
  };

  /// The reference has as many rows as patience allows, and is made when first asked for.
  const Reference& reference(std::string_view strategy, Family family);
  Reference make_reference(const Strategy& strategy, Family family);

  const Setup& setup_;
  Problem problem_;
  Image picture_;
  PlacesToCheck check_;
  std::vector<double> truth_;  ///< empty before it is needed
  double unit_ = 0;
  std::map<std::string_view, Reference> references_;  ///< by strategy
};

/// A setup and its crops by size: the whole picture and crops from its middle.
class Bench : public Setup {
 public:
  explicit Bench(const Setup& setup);

  /// The crops' problems, the smallest first and the whole picture last. Whole tiles fill the
  /// results of all but the whole.
  const std::vector<Problem>& sizes() const { return sizes_; }

  /// The crop of one of sizes().
  Crop& crop(const Problem& size);
  Crop& whole() { return crop(sizes_.back()); }

 private:
  std::vector<Problem> sizes_;
  std::map<std::pair<int, int>, std::unique_ptr<Crop>> crops_;
};

/// The crop on which all these are counted in the emulator, since counts on crops of different
/// size cannot be compared: their edges weigh differently. By estimate patience allows it to each.
Problem emulated_crop(const Bench& bench, const std::vector<Contender>& contenders);

/// Runs the contender there, on `crop` or else on as large a crop of the picture as patience
/// allows. A refusal or a failure is told in the row.
Row measure_row(Bench& bench, const Contender& contender, const Location& location,
                const Problem* crop = nullptr);

}  // namespace convfilt
