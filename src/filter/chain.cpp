#include "src/filter/chain.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "kernels/cpu/edge_rows.hpp"
#include "kernels/registry.hpp"
#include "src/filter/device.hpp"
#include "src/filter/outer.hpp"

namespace convfilt {
namespace {

using Works = std::vector<std::unique_ptr<Work>>;

/// Rows of a picture, the last of which is the one before `end`.
struct RowSpan {
  int first, end;
  int rows() const { return end - first; }
};

/// The rows of its picture that the work needs for those of its result.
RowSpan rows_before(const Work& work, RowSpan rows) {
  if (work.is_whole()) return {0, work.in.height};
  const int first = rows.first - work.window.lead_y;
  return {std::max(first, 0),
          std::min(first + rows.rows() + work.window.height - 1, work.in.height)};
}

/// The steps of a picture of floats.
class ChainWork final : public Work {
 public:
  explicit ChainWork(Works works) : Work(*works.front()), works_(std::move(works)) {
    out = works_.back()->out;
    two_levels = works_.back()->two_levels;
    for (std::size_t k = 1; k < works_.size(); ++k) {
      const Work& step = *works_[k];
      window.width += step.window.width - 1;
      window.height += step.window.height - 1;
      window.lead_x += step.window.lead_x;
      window.lead_y += step.window.lead_y;
      offset_x += step.offset_x;
      offset_y += step.offset_y;
    }
  }

  Needs needs(int rows) const override {
    Needs all;
    RowSpan span{0, rows};
    for (std::size_t k = works_.size(); k-- > 0;) {
      const auto [buffers, plans] = works_[k]->needs(span.rows());
      all.buffers += buffers;
      all.plans += plans;
      span.end = is_whole() ? works_[k]->in.height : span.end + works_[k]->window.height - 1;
      if (k > 0) {
        Shape between = works_[k]->in;
        between.height = span.rows();
        all.buffers += bytes_of(between);
      }
    }
    return all;
  }

  void finish() const override {
    for (const auto& work : works_) work->finish();
  }

  std::vector<const MaskWork*> mask_works() const override {
    std::vector<const MaskWork*> all;
    for (const auto& work : works_) {
      const std::vector<const MaskWork*> own = work->mask_works();
      if (own.empty()) return {};
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<ChainWorker>(*this);
  }

 private:
  class ChainWorker final : public Worker {
   public:
    explicit ChainWorker(const ChainWork& chain)
        : chain_(chain), results_(chain.works_.size() - 1) {
      for (const auto& work : chain.works_) workers_.push_back(work->make_worker());
    }

    void push(BandView<const std::byte> in, BandView<std::byte> out) override {
      std::vector<RowSpan> spans{
          {out.top, out.top + out.height}};  // of results, the last step's first
      for (std::size_t k = workers_.size(); k-- > 1;)
        spans.push_back(rows_before(*chain_.works_[k], spans.back()));
      for (std::size_t k = 0; k < workers_.size(); ++k) {
        const RowSpan rows = spans[workers_.size() - 1 - k];
        const bool is_last = k + 1 == workers_.size();
        Shape shape = chain_.works_[k]->out;
        shape.height = rows.rows();
        const BandView<std::byte> result = is_last ? out : room_for(shape, rows.first, results_[k]);
        workers_[k]->push(in, result);
        if (chain_.is_whole() && k > 0) results_[k - 1] = {};
        in = result;
      }
    }

   private:
    const ChainWork& chain_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<Image> results_;  ///< of all steps but the last; kept for the next band
  };

  Works works_;
};

class ChainFilter final : public Filter {
 public:
  explicit ChainFilter(std::vector<FilterPtr> steps) : steps_(std::move(steps)) {}

  std::string text() const override {
    std::string text;
    for (const FilterPtr& step : steps_) text += (text.empty() ? "" : ", then ") + step->text();
    return text;
  }

  std::vector<Mask> masks() const override {
    std::vector<Mask> all;
    for (const FilterPtr& step : steps_)
      for (Mask& mask : step->masks()) all.push_back(std::move(mask));
    return all;
  }

  std::vector<FilterPtr> steps() const override { return steps_; }

  bool keeps_lightness() const override {
    return std::ranges::all_of(steps_, [](const auto& step) { return step->keeps_lightness(); });
  }
  bool keeps_chroma() const override {
    return std::ranges::all_of(steps_, [](const auto& step) { return step->keeps_chroma(); });
  }
  bool takes_luma() const override { return steps_.front()->takes_luma(); }
  bool needs_only_luma() const override { return steps_.front()->needs_only_luma(); }

  std::unique_ptr<Work> begin(const Shape& in, const Place& place) const override {
    Works works = begin_floats({in.width, in.height, in.channels, Depth::f32}, place);
    place.convolver.set_job("a chain of " + std::to_string(steps_.size()) +
                            " steps, in f32; the strategy is the last one's");
    const auto all = [&](std::unique_ptr<Work> last) {
      works.back() = std::move(last);
      std::unique_ptr<Work> work = std::make_unique<ChainWork>(std::move(works));
      return in.depth == Depth::f32 ? std::move(work) : from_samples(in, place, std::move(work));
    };
    std::unique_ptr<Work> last = std::move(works.back());
    if (!last->in_bands()) return by_device_plan(all(std::move(last)), *this, place);
    last->enclose(all);
    return last;
  }

  std::string resident_refuses() const override {
    for (const FilterPtr& step : steps_)
      if (const std::string why = step->resident_refuses(); !why.empty()) return why;
    return "";
  }

  ResidentPlan device_plan(const Shape& in, const Place& place, int blue) const override {
    ResidentPlan made;
    std::vector<std::unique_ptr<Plan>> steps;
    std::vector<StepResult> results;
    Shape shape{in.width, in.height, in.channels, Depth::f32};
    for (const FilterPtr& step : steps_) {
      ResidentPlan next = step->device_plan(shape, place, blue);
      require_device(next.choice, steps.empty() ? next.choice : made.choice);
      made.choice = next.choice;
      steps.push_back(std::move(next.plan));
      shape = next.result;
      results.push_back({shape.width, shape.height, shape.channels});
    }
    made.plan = make_chain_plan(made.choice.device, std::move(steps), std::move(results),
                                plan_options(made.choice, place.convolver.options()));
    made.result = {shape.width, shape.height, shape.channels, in.depth};
    return made;
  }

  /// A plan holds two pictures of floats, and the steps' plans.
  std::size_t most_resident() const override { return 2; }

 private:
  /// A work on samples around that on floats.
  static std::unique_ptr<Work> from_samples(const Shape& in, const Place& place,
                                            std::unique_ptr<Work> work) {
    constexpr int kAlpha = 3;
    const double full = full_range(in.depth);
    const int channels = work->out.channels;
    const auto enter = [=](const auto* row, int width, float* floats) {
      enter_as_floats(in, row, width, floats);
    };
    const auto leave = [=]<class T>(const OuterRow<T>& row) {
      const std::ptrdiff_t samples = std::ptrdiff_t(row.width) * channels;
      if constexpr (std::is_same_v<T, std::uint8_t>)
        edge_loops().answer_bytes(Join::compass, {{row.response, 1, 0}}, nullptr, int(samples),
                                  row.to);
      else
        for (std::ptrdiff_t i = 0; i < samples; ++i) row.to[i] = to_sample<T>(row.response[i]);
      for (std::ptrdiff_t i = kAlpha; channels > kAlpha && i < samples; i += channels)
        row.to[i] = to_sample<T>(double(row.response[i]) * full);
    };
    const bool two_levels = work->two_levels;
    auto outer = std::make_unique<OuterWork<decltype(enter), decltype(leave)>>(
        in, channels, place, std::move(work), enter, leave);
    outer->two_levels = two_levels;
    return outer;
  }

  /// If one step takes the whole picture, all do; but the last may take it in bands at first.
  Works begin_floats(const Shape& in, Place place) const {
    Works works;
    Shape shape = in;
    for (const FilterPtr& step : steps_) {
      works.push_back(step->begin(shape, place));
      const Work& work = *works.back();
      const bool ends_whole = works.size() == steps_.size() && work.in_bands();
      if (place.why_whole.empty() && ((work.is_whole() && !ends_whole) || work.wraps())) {
        place.why_whole = work.is_whole() ? work.why_whole : "a chain wraps at the border";
        return begin_floats(in, place);
      }
      shape = work.out;
    }
    return works;
  }

  std::vector<FilterPtr> steps_;
};

}  // namespace

FilterPtr chain(std::vector<FilterPtr> steps) {
  return steps.size() == 1 ? steps.front() : std::make_shared<ChainFilter>(std::move(steps));
}

}  // namespace convfilt
