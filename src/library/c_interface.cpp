#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/auto/machine.hpp"
#include "src/base/errors.hpp"
#include "src/base/words.hpp"
#include "src/filter/mask.hpp"
#include "src/library/array_filter.hpp"
#include "src/library/checks.hpp"
#include "src/library/convfilt.h"
#include "src/mask/file.hpp"
#include "src/mask/make.hpp"
#include "src/mask/number.hpp"
#include "src/mask/text.hpp"
#include "src/recipe/recipe.hpp"

using namespace convfilt;

struct convfilt_mask {
  Mask mask;
};

struct convfilt_filter {
  FilterPtr filter;      ///< of a mask; a recipe's is made when all options are known
  std::string recipe{};  ///< empty where it is of a mask
  Values options{};      ///< by the names of the command line
  ConvolverOptions how{};
  Mapping mapping{};
  ChannelOrder order = ChannelOrder::rgb;
};

struct convfilt_plan {
  ArrayFilter filter;
};

namespace {

thread_local std::string latest_error;

/// Runs the body of a function; what it throws becomes a status and convfilt_error().
template <class Body>
convfilt_status status_of(const Body& body) noexcept {
  const auto failed = [](convfilt_status status, const char* what) {
    try {
      latest_error = what;
    } catch (const std::bad_alloc&) {
      latest_error.clear();
    }
    return status;
  };
  try {
    body();
    return CONVFILT_OK;
  } catch (const UsageError& error) {
    return failed(CONVFILT_USAGE, error.what());
  } catch (const IoError& error) {
    return failed(CONVFILT_IO, error.what());
  } catch (const DeviceError& error) {
    return failed(CONVFILT_DEVICE, error.what());
  } catch (const std::bad_alloc&) {
    return failed(CONVFILT_FAILED, "there is too little memory");
  } catch (const std::exception& error) {
    return failed(CONVFILT_FAILED, error.what());
  }
}

void require_pointers(std::initializer_list<const void*> pointers) {
  require(std::ranges::count(pointers, nullptr) == 0, "an argument is null; give a pointer");
}

/// Options of the command line that hold for arrays, too.
constexpr std::string_view kOptions[] = {"border", "border-value", "mode",   "strategy",
                                         "device", "threads",      "linear", "luma",
                                         "output", "depth",        "order"};

/// Those, and the settings of strategies, as a recipe's step might have them by mistake.
Words for_all_steps() {
  Words all;
  for (const std::string_view name : kOptions) all.push_back("--" + std::string(name));
  for (const Setting each : kSettings) all.push_back("--" + std::string(info_of(each).name));
  return all;
}

void set_option(convfilt_filter& filter, const std::string& name, const std::string& value) {
  const std::string option = "--" + name;
  ConvolverOptions& how = filter.how;
  Mapping& mapping = filter.mapping;
  const Choices<bool> flags = {{"true", true}, {"false", false}};
  const Choices<Negative> negatives = {
      {"clamp", Negative::clamp}, {"abs", Negative::absolute}, {"signed", Negative::centred}};
  const Machine machine = this_machine();
  if (name == "border") {
    how.border = meaning_of(option, value, choices_of(kBorders));
  } else if (name == "border-value") {
    how.border_value =
        number_in<double>(option, value, {.least = std::numeric_limits<double>::lowest()});
  } else if (name == "mode") {
    how.mode = meaning_of(option, value, choices_of(kModes));
  } else if (name == "strategy" || name == "device") {
    Request request = how.request;
    (name == "strategy" ? request.strategy : request.device) = value;
    check_names(request, machine);
    how.request = std::move(request);
  } else if (name == "threads") {
    how.request.threads = number_in<int>(option, value, {0, kMostThreads});
  } else if (name == "linear") {
    mapping.linear = meaning_of(option, value, flags);
  } else if (name == "luma") {
    mapping.luma = meaning_of(option, value, flags);
  } else if (name == "output") {
    mapping.negative = meaning_of(option, value, negatives);
  } else if (name == "depth") {
    mapping.depth = meaning_of(option, value, choices_of(kDepths));
  } else if (name == "order") {
    filter.order =
        meaning_of(option, value,
                   Choices<ChannelOrder>{{"rgb", ChannelOrder::rgb}, {"bgr", ChannelOrder::bgr}});
  } else {
    const auto setting = std::ranges::find(
        kSettings, name, [](Setting each) { return std::string(info_of(each).name); });
    if (setting == std::end(kSettings)) {
      Words known = words_of(kOptions);
      for (const Setting each : kSettings) known.emplace_back(info_of(each).name);
      require_choice("option", name, known);
    }
    Request request = how.request;
    check_setting(request, *setting, machine);
    set_from_word(request.tuning, *setting, value);
    how.request = std::move(request);
  }
  filter.options[option] = value;
}

/// The options, with the border that they mean where none is named.
ConvolverOptions options_of(const convfilt_filter& filter) {
  ConvolverOptions how = filter.how;
  const bool has_value = filter.options.contains("--border-value");
  if (!filter.options.contains("--border") && (has_value || how.mode == Mode::full))
    how.border = Border::constant;
  require(how.mode != Mode::full || (how.border == Border::constant && how.border_value == 0),
          "mode full: outside the picture all is 0; leave out border and border-value");
  require(!has_value || how.border == Border::constant,
          "border-value: only border constant has one; leave out one of the two");
  require(how.mode == Mode::same || !filter.mapping.luma,
          "luma: the result has the picture's size then; leave out mode");
  return how;
}

FilterPtr made(const convfilt_filter& filter) {
  return filter.filter ? filter.filter
                       : read_recipe(filter.recipe, filter.options, for_all_steps()).filter;
}

Shape shape_of(const convfilt_shape& shape) {
  const bool is_depth = shape.depth >= CONVFILT_U8 && shape.depth <= CONVFILT_F32;
  require(is_depth, "a picture's depth is u8, u16 or f32");
  check_sides(shape.width, shape.height, shape.channels);
  return {shape.width, shape.height, shape.channels, Depth(shape.depth)};
}

/// The filter for arrays. Remedies that are for files become some for arrays.
ArrayFilter array_filter(const convfilt_filter& filter, const convfilt_shape& shape,
                         ConvolverOptions how, std::optional<int> gpu = {}) {
  try {
    return ArrayFilter(made(filter), filter.mapping, shape_of(shape), std::move(how), filter.order,
                       gpu);
  } catch (const UsageError& error) {
    constexpr std::string_view kAlpha = ": the picture has alpha; ";
    const std::string text = error.what();
    const std::size_t at = text.find(kAlpha);
    if (at == text.npos) throw;
    throw UsageError(text.substr(0, at + kAlpha.size()) + "pass its first 3 channels");
  }
}

/// Throws UsageError where the samples of a result would overlap each other, or the picture's.
void check_apart(const convfilt_pixels& in, const Shape& of_in, const convfilt_pixels& out,
                 const Shape& of_out) {
  using Axis = std::pair<std::ptrdiff_t, int>;
  const auto axes = [](const convfilt_pixels& pixels, const Shape& shape) {
    return std::vector<Axis>{
        {pixels.row, shape.height}, {pixels.pixel, shape.width}, {pixels.channel, shape.channels}};
  };
  const auto span = [](const convfilt_pixels& pixels, const std::vector<Axis>& all,
                       const Shape& shape) {
    std::intptr_t low = std::intptr_t(pixels.data), high = low;
    for (const auto& [stride, side] : all) (stride < 0 ? low : high) += stride * (side - 1);
    return std::pair(low, high + std::intptr_t(size_of(shape.depth)));
  };
  std::vector<Axis> outs = axes(out, of_out);
  const auto from = span(in, axes(in, of_in), of_in), to = span(out, outs, of_out);
  require(from.second <= to.first || to.second <= from.first,
          "the memory of the result overlaps the picture's; give the result other memory");
  std::erase_if(outs, [](const Axis& axis) { return axis.second == 1; });
  std::ranges::sort(outs, {}, [](const Axis& axis) { return std::abs(axis.first); });
  std::ptrdiff_t reach = std::ptrdiff_t(size_of(of_out.depth));
  for (const auto& [stride, side] : outs) {
    require(std::abs(stride) >= reach,
            "samples of the result overlap each other; mend its strides");
    reach += std::abs(stride) * (side - 1);
  }
}

convfilt_status make(const convfilt_filter* filter, const convfilt_shape* shape,
                     std::optional<int> gpu, convfilt_plan** plan) {
  return status_of([&] {
    require_pointers({filter, shape, plan});
    ConvolverOptions how = options_of(*filter);
    if (gpu) {
      require(*gpu >= 0, "a GPU's number is 0 or more");
      how.request.device = "cuda:" + std::to_string(*gpu);
    }
    *plan = new convfilt_plan{array_filter(*filter, *shape, std::move(how), gpu)};
  });
}

ArrayView<std::byte> array_of(const convfilt_pixels& pixels) {
  return {static_cast<std::byte*>(pixels.data), pixels.row, pixels.pixel, pixels.channel};
}
ArrayView<const std::byte> input_of(const convfilt_pixels& pixels) {
  return {static_cast<const std::byte*>(pixels.data), pixels.row, pixels.pixel, pixels.channel};
}

}  // namespace

const char* convfilt_version() {
  return CONVFILT_VERSION;
}

const char* convfilt_error() {
  return latest_error.c_str();
}

convfilt_status convfilt_mask_from_text(const char* text, convfilt_mask** mask) {
  return status_of([&] {
    require_pointers({text, mask});
    *mask = new convfilt_mask{parse_mask(text, "mask")};
  });
}

convfilt_status convfilt_mask_from_file(const char* path_or_name, convfilt_mask** mask) {
  return status_of([&] {
    require_pointers({path_or_name, mask});
    *mask = new convfilt_mask{load_mask(path_or_name)};
  });
}

convfilt_status convfilt_mask_from_array(const double* weights, int width, int height,
                                         double divisor, convfilt_mask** mask) {
  return status_of([&] {
    require_pointers({weights, mask});
    check_mask_sides(width, height);
    Mask made = make_mask("array", width, height,
                          {weights, weights + std::ptrdiff_t(width) * height}, divisor);
    check_numbers(made);
    // The same numbers in a text give the same mask: 0.1 is a tenth.
    std::vector<Number> numbers;
    for (const double weight : made.weights) numbers.push_back(number_of(weight));
    require(!set_weights(made, numbers, number_of(divisor), {0, Rational{}}),
            "a weight over the divisor is above the range of a double; give smaller ones");
    *mask = new convfilt_mask{std::move(made)};
  });
}

convfilt_status convfilt_mask_flipped(const convfilt_mask* mask, convfilt_mask** flipped) {
  return status_of([&] {
    require_pointers({mask, flipped});
    *flipped = new convfilt_mask{convfilt::flipped(mask->mask)};
  });
}

convfilt_status convfilt_mask_normalized(const convfilt_mask* mask, convfilt_mask** normalized) {
  return status_of([&] {
    require_pointers({mask, normalized});
    *normalized = new convfilt_mask{convfilt::normalized(mask->mask)};
  });
}

const char* convfilt_mask_text(const convfilt_mask* mask) {
  thread_local std::string kept;
  const convfilt_status status = status_of([&] {
    require_pointers({mask});
    kept = print_mask(mask->mask);
  });
  return status == CONVFILT_OK ? kept.c_str() : nullptr;
}

void convfilt_mask_size(const convfilt_mask* mask, int* width, int* height) {
  if (width) *width = mask ? mask->mask.width : 0;
  if (height) *height = mask ? mask->mask.height : 0;
}

double convfilt_mask_weight(const convfilt_mask* mask, int x, int y) {
  if (!mask) return 0;
  const Mask& of = mask->mask;
  return x >= 0 && x < of.width && y >= 0 && y < of.height ? of.weight(x, y) / of.divisor : 0;
}

void convfilt_mask_free(convfilt_mask* mask) {
  delete mask;
}

convfilt_status convfilt_filter_from_recipe(const char* recipe, convfilt_filter** filter) {
  return status_of([&] {
    require_pointers({recipe, filter});
    read_recipe(recipe, {}, for_all_steps());  // reports mistakes now
    *filter = new convfilt_filter{nullptr, recipe};
  });
}

convfilt_status convfilt_filter_from_mask(const convfilt_mask* mask, convfilt_filter** filter) {
  return status_of([&] {
    require_pointers({mask, filter});
    *filter = new convfilt_filter{mask_filter(mask->mask)};
  });
}

convfilt_status convfilt_filter_set(convfilt_filter* filter, const char* name, const char* value) {
  return status_of([&] {
    require_pointers({filter, name, value});
    set_option(*filter, name, value);
  });
}

const char* convfilt_filter_text(const convfilt_filter* filter) {
  thread_local std::string kept;
  const convfilt_status status = status_of([&] {
    require_pointers({filter});
    kept = describe(*mapped(made(*filter), filter->mapping), options_of(*filter));
  });
  return status == CONVFILT_OK ? kept.c_str() : nullptr;
}

void convfilt_filter_free(convfilt_filter* filter) {
  delete filter;
}

convfilt_status convfilt_plan_make(const convfilt_filter* filter, const convfilt_shape* shape,
                                   convfilt_plan** plan) {
  return make(filter, shape, std::nullopt, plan);
}

convfilt_status convfilt_plan_make_on_gpu(const convfilt_filter* filter,
                                          const convfilt_shape* shape, int gpu,
                                          convfilt_plan** plan) {
  return make(filter, shape, gpu, plan);
}

void convfilt_plan_result(const convfilt_plan* plan, convfilt_shape* shape) {
  if (!plan || !shape) return;
  const Shape& result = plan->filter.result();
  *shape = {result.width, result.height, result.channels, convfilt_depth(result.depth)};
}

const char* convfilt_plan_text(const convfilt_plan* plan) {
  return plan ? plan->filter.text().c_str() : "";
}

convfilt_status convfilt_plan_run(convfilt_plan* plan, const convfilt_pixels* in,
                                  const convfilt_pixels* out) {
  return status_of([&] {
    require_pointers({plan, in, out, in ? in->data : nullptr, out ? out->data : nullptr});
    check_apart(*in, plan->filter.picture(), *out, plan->filter.result());
    plan->filter.run(input_of(*in), array_of(*out));
  });
}

convfilt_status convfilt_plan_run_on_gpu(convfilt_plan* plan, const convfilt_pixels* in,
                                         const convfilt_pixels* out, void* stream) {
  return status_of([&] {
    require_pointers({plan, in, out, in ? in->data : nullptr, out ? out->data : nullptr});
    check_apart(*in, plan->filter.picture(), *out, plan->filter.result());
    plan->filter.run_on_gpu(input_of(*in), array_of(*out), stream);
  });
}

void convfilt_plan_free(convfilt_plan* plan) {
  delete plan;
}

const char* convfilt_strategy(int number) {
  const auto& strategies = this_machine().strategies;
  if (number == 0) return "auto";
  return number > 0 && std::size_t(number) <= strategies.size()
             ? strategies[std::size_t(number) - 1]->name.data()
             : nullptr;
}

const char* convfilt_strategy_refuses(const char* strategy, const convfilt_filter* filter,
                                      const convfilt_shape* shape, const char* device) {
  thread_local std::string kept;
  const convfilt_status status = status_of([&] {
    require_pointers({strategy, filter, shape, device});
    ConvolverOptions how = options_of(*filter);
    how.request.strategy = strategy;
    how.request.device = device;
    check_names(how.request, this_machine());
    array_filter(*filter, *shape, std::move(how));
  });
  if (status == CONVFILT_OK) return "";
  kept.swap(latest_error);  // the text, not the error of a call, which this was none of
  return kept.c_str();
}

int convfilt_gpus() {
  int count = 0;
  return status_of([&] { count = int(cuda_devices().devices.size()); }) == CONVFILT_OK ? count : 0;
}
