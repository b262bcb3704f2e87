#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/lab/explain/count_reads.hpp"
#include "src/lab/explain/schedule.hpp"
#include "src/lab/explain/text.hpp"

namespace convfilt {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson problem_json(const Problem& p) {
  return {{"width_px", p.width},
          {"height_px", p.height},
          {"channels", p.channels},
          {"depth", name_of(p.depth)},
          {"mask", p.mask.name},
          {"mask_width", p.mask.width},
          {"mask_height", p.mask.height},
          {"border", name_of(p.border)},
          {"border_value", p.border_value},
          {"mode", name_of(p.mode)}};
}

/// The values that differ from the default, as to_string() has them.
OrderedJson settings_json(const Tuning& tuning) {
  OrderedJson json = OrderedJson::object();
  for (const Setting setting : kSettings) {
    if (tuning[setting] == 0) continue;
    Tuning alone;
    alone[setting] = tuning[setting];
    const SettingInfo& info = info_of(setting);
    const std::string value = to_string(alone).substr(info.name.size() + 1);
    const bool is_number = value.find_first_not_of("0123456789") == value.npos;
    json[std::string(info.name)] = is_number ? OrderedJson(tuning[setting]) : OrderedJson(value);
  }
  return json;
}

/// A number found in two ways.
template <class T>
OrderedJson both(const std::optional<T>& formula, const std::optional<T>& count) {
  return {{"formula", formula ? OrderedJson(*formula) : OrderedJson()},
          {"count", count ? OrderedJson(*count) : OrderedJson()}};
}

std::optional<std::int64_t> part_of(const std::optional<Reads>& reads, std::int64_t Reads::*part) {
  return reads ? std::optional((*reads).*part) : std::nullopt;
}

OrderedJson reads_json(const Compared& reads, std::int64_t Reads::*part = &Reads::global) {
  return both(part_of(reads.formula, part), part_of(reads.count, part));
}

OrderedJson occupancy_json(const Explanation& e) {
  const Occupancy& o = e.occupancy;
  return {{"architecture", e.architecture->name},
          {"blocks_per_sm", o.blocks},
          {"threads_per_sm", o.threads},
          {"most_threads_per_sm", e.architecture->threads},
          {"share", double(o.threads) / e.architecture->threads},
          {"limited_by", o.limited_by}};
}

OrderedJson block_json(const Explanation& e) {
  const Geometry& g = *e.geometry;
  OrderedJson json = {{"thread_columns", g.block_columns},
                      {"thread_rows", g.block_rows},
                      {"threads", g.block_columns * g.block_rows},
                      {"loading_threads", g.loading_threads},
                      {"computing_threads", g.computing_threads},
                      {"shared_bytes", g.shared_bytes},
                      {"output_tile_columns", g.out_columns},
                      {"output_tile_rows", g.out_rows},
                      {"input_tile_columns", g.in_columns},
                      {"input_tile_rows", g.in_rows},
                      {"outputs", outputs_of(g)}};
  // The halo of an input tile, where the tile has one.
  const bool keeps_halo = g.in_columns >= g.out_columns && g.in_rows >= g.out_rows;
  const auto halo = [&](const char* name, std::int64_t value) {
    json[name] = keeps_halo ? OrderedJson(value) : OrderedJson();
  };
  const std::int64_t inputs = std::int64_t(g.in_columns) * g.in_rows;
  const std::int64_t inside = std::int64_t(e.axes.x.inputs_inside(0)) * e.axes.y.inputs_inside(0);
  halo("halo_samples", inputs - std::int64_t(g.out_columns) * g.out_rows);
  halo("halo_left_columns", g.lead_x);
  halo("halo_right_columns", g.in_columns - g.out_columns - g.lead_x);
  halo("halo_above_rows", g.lead_y);
  halo("halo_below_rows", g.in_rows - g.out_rows - g.lead_y);
  halo("corner_block_samples", inside);
  halo("corner_block_ghost_cells", inputs - inside);
  json["note"] = g.note;
  return json;
}

std::string key_of(std::string_view name) {
  std::string key(name);
  std::ranges::replace(key, ' ', '_');
  return key;
}

/// The counts of a block's warps: each beside its formula, or else only those that the emulator has
/// for every kernel.
OrderedJson counts_json(const std::optional<WatchedBlock>& watched,
                        const std::optional<Counts>& counts) {
  OrderedJson json = OrderedJson::object();
  if (watched)
    for (const CountName& count : watched_counts())
      json[key_of(count.name)] =
          both(std::optional(count.of(watched->formula)), std::optional(count.of(watched->count)));
  else if (counts)
    for (const auto& [name, value] :
         {std::pair{"global_reads", counts->global_reads + counts->texture_fetches},
          {"shared_reads", counts->shared_reads},
          {"barriers", counts->barriers},
          {"ghost_cells", counts->ghost_cells},
          {"atomic_additions", counts->atomic_adds}})
      json[name] = both<std::uint64_t>(std::nullopt, value);
  return json;
}

OrderedJson middle_json(const Explanation& e) {
  const Geometry& g = *e.geometry;
  const std::int64_t outputs = outputs_of(g), taps = taps_of(g, e.problem.mask);
  const std::int64_t reads = e.middle.value().global, adds = atomic_adds_of(e);
  const std::int64_t sample = std::int64_t(size_of(e.problem.depth));
  const std::int64_t bytes = reads * sample + adds * g.sum_bytes;
  // A library's reads are not counted, so ratios of taps to reads say nothing.
  const bool by_library = sums_by_library(*e.strategy, e.tuning);
  const auto ratio = [&](double a, std::int64_t b) {
    return by_library || b == 0 ? OrderedJson() : OrderedJson(a / double(b));
  };
  return {{"read_through", e.by_texture() ? "texture" : "global memory"},
          {"outputs", outputs},
          {"taps", taps},
          {"reads", reads_json(e.middle)},
          {"reads_per_output", double(reads) / double(outputs)},
          {"reads_per_output_formula", g.loads_per_output},
          {"atomic_adds_per_output", double(adds) / double(outputs)},
          {"taps_per_access", ratio(double(taps), reads + adds)},
          {"flop_per_byte_read", ratio(2 * double(taps), bytes)},
          {"flop_per_byte_moved",
           adds > 0 ? OrderedJson() : ratio(2 * double(taps), bytes + outputs * sample)},
          {"counts", counts_json(e.watched, e.middle_counts)},
          {"counts_if_rows_are_packed",
           e.packed ? counts_json(e.packed, std::nullopt) : OrderedJson()}};
}

OrderedJson grid_json(const Explanation& e) {
  const TileAxis &x = e.axes.x, &y = e.axes.y;
  const bool overlap = x.step != x.tile || y.step != y.tile;
  const auto cut = [&](const TileAxis& axis) {
    return overlap ? OrderedJson() : OrderedJson(axis.outputs % axis.step);
  };
  return {{"blocks_across", x.tiles()},      {"blocks_down", y.tiles()},
          {"blocks_apart_columns", x.step},  {"blocks_apart_rows", y.step},
          {"columns_in_cut_blocks", cut(x)}, {"rows_in_cut_blocks", cut(y)}};
}

OrderedJson rows_json(const Explanation& e) {
  const RowLayout& r = e.rows;
  const bool may_be_packed = r.pitch != r.bytes && !(e.geometry && e.geometry->always_padded);
  return {{"row_bytes", r.bytes},
          {"pitch_bytes", r.pitch},
          {"share_of_line_lost_if_packed",
           may_be_packed ? OrderedJson(r.lost_if_packed) : OrderedJson()}};
}

/// The reads of all blocks, with the border and with ghost cells that are not read.
OrderedJson all_reads_json(const Explanation& e) {
  const std::int64_t outputs = std::int64_t(e.counted.out_width()) * e.counted.out_height();
  const Reads &bordered = e.with_border.value(), &bare = e.ghosts_out.value();
  OrderedJson reuse;
  if (!sums_by_library(*e.strategy, e.tuning) && atomic_adds_of(e) == 0 && e.geometry &&
      e.geometry->loads > 0) {
    const std::int64_t taps =
        e.counted_axes.x.all_taps_inside() * e.counted_axes.y.all_taps_inside();
    if (taps > 0) reuse = double(taps) / double(bare.global);
  }
  return {{"width_px", e.counted.width},
          {"height_px", e.counted.height},
          {"outputs", outputs},
          {"reads", reads_json(e.with_border)},
          {"reads_per_output", double(bordered.global) / double(outputs)},
          {"ghost_cells", reads_json(e.with_border, &Reads::made_up)},
          {"reads_ghosts_out", reads_json(e.ghosts_out)},
          {"reads_per_output_ghosts_out", double(bare.global) / double(outputs)},
          {"ghost_cells_ghosts_out", reads_json(e.ghosts_out, &Reads::made_up)},
          {"taps_per_read_ghosts_out", reuse}};
}

OrderedJson schedule_json(const Explanation& e) {
  OrderedJson json = OrderedJson::array();
  if (!e.geometry || e.geometry->adding_x.divisions == 0) return json;
  for (const ScheduleText& schedule : schedule_texts(*e.strategy, e.asked, e.tuning))
    json.push_back({{"heading", schedule.heading}, {"lines", schedule.lines}});
  return json;
}

}  // namespace

std::string to_json(const Explanation& e, std::string_view version) {
  const auto if_there = [](bool is_there, auto json_of) {
    return is_there ? json_of() : OrderedJson();
  };
  const bool has_block = e.geometry.has_value();
  const OrderedJson json = {
      {"convfilt_version", version},
      {"strategy", e.strategy->name},
      {"summary", e.strategy->summary},
      {"family", name_of(e.strategy->family_of(e.tuning))},
      {"bound", bound_of(e)},
      {"problem", problem_json(e.asked)},
      {"settings", settings_json(e.tuning)},
      {"no_block_because", has_block ? OrderedJson() : OrderedJson(why_no_block(e))},
      {"mask_parts", e.parts},
      {"part_width", e.problem.mask.width},
      {"part_height", e.problem.mask.height},
      {"block", if_there(has_block, [&] { return block_json(e); })},
      {"occupancy",
       if_there(has_block && e.geometry->block_columns > 0, [&] { return occupancy_json(e); })},
      {"schedule", schedule_json(e)},
      {"middle_block", if_there(has_block && e.middle.known(), [&] { return middle_json(e); })},
      {"grid", if_there(has_block, [&] { return grid_json(e); })},
      {"rows", if_there(e.strategy->runs_on(DeviceKind::emulator), [&] { return rows_json(e); })},
      {"all_blocks",
       if_there(e.ghosts_out.known() && e.with_border.known(), [&] { return all_reads_json(e); })},
      {"differences", e.differences()}};
  // A file's name need not be UTF-8.
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace convfilt
