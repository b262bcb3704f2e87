/// A picture that strategies are compared on, or a piece of it, with what results are held against.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "src/auto/choice.hpp"
#include "src/lab/compare/comparison.hpp"
#include "src/lab/compare/oracle.hpp"
#include "src/picture/image.hpp"

namespace convfilt {

/// One problem with its pixels. It computes the real-valued result when first asked to judge.
class Piece {
 public:
  Piece(Problem problem, Image picture, const CompareOptions& options, const Machine& machine)
      : problem_(std::move(problem)),
        picture_(std::move(picture)),
        threads_(options.threads),
        patience_(options.reference_patience),
        machine_(machine) {}

  const Problem& problem() const { return problem_; }
  PictureView<const std::byte> in() const { return picture_.view(); }

  /// A result, not initialised.
  Image blank_result() const;

  double outputs() const;  ///< samples of the result
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

  Problem problem_;
  Image picture_;
  int threads_;
  double patience_;  ///< seconds
  const Machine& machine_;
  PlacesToCheck check_;
  std::vector<double> truth_;
  double unit_ = 0;
  bool has_truth_ = false;
  std::map<std::string_view, Reference> references_;  ///< by strategy
};

/// How large a piece of the picture is.
struct PieceSize {
  int width = 0, height = 0;  ///< in pixels
  double outputs = 0;         ///< samples of its result
};

/// The pieces of one comparison, by size: the whole picture and pieces from its middle.
class Pieces {
 public:
  Pieces(const Problem& problem, const Image& picture, const CompareOptions& options,
         const Machine& machine)
      : problem_(problem), picture_(picture), options_(options), machine_(machine) {}

  const Problem& whole() const { return problem_; }

  /// The pieces' sizes, the smallest first and the whole picture last. Whole tiles fill the results
  /// of all but the whole.
  std::vector<PieceSize> sizes() const;

  /// The piece of one of sizes().
  Piece& of(const PieceSize& size);

 private:
  const Problem& problem_;
  const Image& picture_;
  const CompareOptions& options_;
  const Machine& machine_;
  std::vector<std::unique_ptr<Piece>> pieces_;
};

}  // namespace convfilt
