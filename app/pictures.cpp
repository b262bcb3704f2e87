#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>

#include "app/commands.hpp"
#include "src/base/errors.hpp"
#include "src/base/signals.hpp"
#include "src/base/source_text.hpp"
#include "src/mask/file.hpp"
#include "src/picture/bytes.hpp"
#include "src/picture/formats.hpp"
#include "src/picture/io.hpp"
#include "src/recipe/recipe.hpp"
#include "src/run/codec_choice.hpp"
#include "src/run/crew.hpp"
#include "src/run/journal.hpp"
#include "src/run/report.hpp"
#include "src/run/run.hpp"
#include "src/run/schedule.hpp"

namespace convfilt {
namespace {

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

void print_plan(const BatchPlan& plan, bool json, const std::string& recipe) {
  for (const std::size_t i : plan.to_filter) {
    const Job& job = plan.list.jobs[i];
    print_result(json ? json_line(job, recipe) + "\n"
                      : printable_name(job.in) + " -> " + printable_name(job.out) + "\n");
  }
  for (const Ending& ending : plan.settled) {
    const Job job = plan.list.jobs[ending.number];
    print_result(json ? json_line({ending, &job}, recipe) + "\n"
                      : printable_name(job.in) + ": " +
                            (ending.outcome == Outcome::failed ? "fails: " : "skipped: ") +
                            ending.reason + "\n");
  }
}

void note_what_is_left_out(const JobList& list, bool json) {
  if (list.other_files > 0)
    log_detail(plural(list.other_files, "other file") +
               " passed over; --glob takes files by other names");
  if (!list.passed.empty()) {
    constexpr std::size_t kNamed = 3;
    const auto why = [](const std::string& path) {
      return "no format here has such a name; --glob '*." + extension_of(path) +
             "' --format png tries it";
    };
    std::vector<std::string> names;
    for (const std::string& path : list.passed) {
      if (names.size() < kNamed) names.push_back(quoted_name(path));
      if (json) print_result(json_line({path, "", why(path)}, "passed over") + "\n");
    }
    if (list.passed.size() > kNamed)
      names.push_back(std::to_string(list.passed.size() - kNamed) + " more");
    log_warning(plural(list.passed.size(), "picture") + " passed over (" + listed(names) +
                "): " + why(list.passed.front()));
  }
  if (list.links_passed > 0)
    log_note(plural(list.links_passed, "link") +
             " passed over, which lead to folders or out of theirs; --follow-links takes them");
  if (list.results_passed > 0)
    log_note(plural(list.results_passed, "result") +
             " of earlier runs passed over; named one by one, they are filtered, too");
  for (const UnreadFolder& folder : list.unread) log_error(folder.why);
  for (const RefusedInput& refused : list.refused) {
    log_error(refused.why);
    if (json) print_result(json_line(refused) + "\n");
  }
}

/// Checks what a single picture needs before any work.
void check_one(const FilterCommand& command) {
  const Batch& batch = command.batch;
  const std::string &in = batch.selection.inputs.front(), &out = batch.selection.out;
  // OUT may have been meant as the folder that IN would have needed, had it been there.
  if (in != "-" && extension_of(out).empty() && batch.write.format.empty() &&
      ::access(in.c_str(), F_OK) != 0)
    open_source(in);
  if (out == "-" && isatty(STDOUT_FILENO))
    throw UsageError("a picture is not for a terminal; redirect standard output, e.g. > out.png");
  if (out == "-" && command.json && !command.dry_run)
    throw UsageError("--json: the picture goes to standard output; name a file for OUT");
  if (batch.resume && (in == "-" || out == "-"))
    throw UsageError("--resume: standard input and output have no journal; name files");
  check_output(in, out, batch.write, batch.selection.in_place);
}

void check_many(const FilterCommand& command) {
  const std::string& out = command.batch.selection.out;
  if (!is_folder(out) && find_format(extension_of(out)))
    throw UsageError(
        "OUT is " + quoted_name(out) + ", a picture's name, and " +
        (command.needs_folder.empty() ? "these inputs need" : command.needs_folder + " needs") +
        " a folder; name one, such as out/");
  if (out == "-" || std::ranges::count(command.batch.selection.inputs, "-") > 0)
    throw UsageError(
        "standard input and output hold one picture each; name files and folders, or "
        "one IN and one OUT");
  check_options(command.batch.write);
}

void check_plan(const BatchPlan& plan, const Batch& batch) {
  const Selection& selection = batch.selection;
  if (plan.list.has_passed_out && journal_to_resume(selection.out, batch.shard).empty())
    log_note(quoted_name(selection.out) +
             " is OUT, so pictures in it are taken for results and left out");
  const bool is_empty =
      plan.list.jobs.empty() && plan.list.unread.empty() && plan.list.refused.empty();
  if (is_empty && batch.shard.count == 1)
    throw IoError("there are no pictures to filter" +
                  std::string(selection.recursive ? "" : "; -r looks into folders, too"));
}

/// Throws IoError where pictures that a dry run has listed would fail.
void end_dry_run(const BatchPlan& plan, bool json, const std::string& recipe) {
  print_plan(plan, json, recipe);
  const auto unread = std::int64_t(plan.list.unread.size());
  const std::int64_t fail = std::int64_t(plan.list.refused.size()) +
                            std::ranges::count(plan.settled, Outcome::failed, &Ending::outcome);
  if (fail + unread > 0)
    throw IoError(plural(fail, "picture") + " would fail" +
                  (unread > 0 ? ", and " + plural(unread, "folder") + " cannot be read" : ""));
}

/// Says what has become of pictures, each when it has ended.
class Teller {
 public:
  Teller(const FilterCommand& command, const Batch& batch, std::size_t pictures)
      : batch_(batch),
        json_(command.json),
        loudness_(command.loudness),
        progress_(std::int64_t(pictures), !command.no_progress && !batch.selection.is_one &&
                                              command.loudness != Loudness::quiet) {}

  void operator()(const PictureOutcome& outcome) {
    const bool is_one = batch_.selection.is_one;
    const bool is_plain =
        outcome.outcome == Outcome::filtered && outcome.report.warnings.empty() && !json_;
    if (!is_plain) progress_.clear();
    // The failure of one picture is the whole message.
    if (outcome.outcome == Outcome::filtered || !is_one)
      for (const std::string& warning : outcome.report.warnings) log_warning(warning);
    if (outcome.outcome == Outcome::filtered && is_one && loudness_ == Loudness::verbose)
      for (const std::string& line : details_of(batch_, outcome)) log_detail(line);
    if (outcome.outcome == Outcome::skipped)
      log_detail(printable_name(outcome.job->in) + ": skipped, " + outcome.reason);
    if (outcome.outcome == Outcome::failed) {
      if (!is_one) log_error(outcome.reason);
      failure_ =
          outcome.failure ? outcome.failure : std::make_exception_ptr(IoError(outcome.reason));
    }
    if (json_) print_result(json_line(outcome, batch_.recipe) + "\n");
    if (outcome.outcome != Outcome::not_begun) progress_.count(outcome);
  }

  /// Throws the failure of a picture that was filtered alone.
  void end() {
    progress_.clear();
    if (batch_.selection.is_one && failure_) std::rethrow_exception(failure_);
  }

 private:
  const Batch& batch_;
  const bool json_;
  const Loudness loudness_;
  ProgressBar progress_;
  std::exception_ptr failure_;
};

/// Completes the batch by what the options say of the pictures, and checks it.
void complete(FilterCommand& command) {
  Selection& selection = command.batch.selection;
  const FilterLine& line = *command.line;
  FilterPtr filter;
  Words masks;
  if (line.is_chain()) {
    Recipe recipe =
        read_recipe(command.values.word(line.options[0].name), command.given, command.options);
    command.batch.recipe = std::move(recipe.text);
    filter = std::move(recipe.filter);
    masks = std::move(recipe.masks);
    check_keeps_mask(recipe.file, selection.out, "recipe");
    log_detail("recipe: " + command.batch.recipe);
  } else {
    filter = line.make(command.values);
    for (const FilterOption& option : line.options)
      if (option.is_argument()) masks.push_back(command.values.word(option.name));
  }
  for (const std::string& mask : masks) check_keeps_mask(mask, selection.out);
  command.batch.filter = mapped(std::move(filter), command.mapping);
  const std::string& out = selection.out;
  selection.is_one = command.needs_folder.empty() && selection.inputs.size() == 1 &&
                     !is_folder(selection.inputs.front()) && !is_folder(out) && !out.ends_with('/');
  selection.is_one ? check_one(command) : check_many(command);
}

}  // namespace

void FilterCommand::run() {
  complete(*this);
  const bool is_one = batch.selection.is_one;
  if (!is_one)
    batch.convolver.request.threads =
        threads_within(batch.max_memory, batch.convolver.request.threads);
  const BatchPlan plan = plan_batch(batch);
  note_what_is_left_out(plan.list, json);
  check_plan(plan, batch);
  if (is_one) {
    batch.codec = CodecKind::cpu;
  } else if (batch.codec == CodecKind::automatic) {
    const CodecAnswer answer = automatic_codec(batch, plan, this_machine());
    log_detail("JPEGs are read and written by the " +
               std::string(answer.codec == CodecKind::gpu ? "GPU" : "CPU") + ": " + answer.why);
    batch.codec = answer.codec;
  }
  if (dry_run) {
    check_resumes(batch);
    return end_dry_run(plan, json, batch.recipe);
  }
  const std::unique_ptr<Crew> crew = crew_for(batch, plan.of_all_shards);
  // A signal ends one picture at once.
  std::optional<StopOnSignal> signals;
  if (!is_one) batch.stop = &signals.emplace().stop();
  Teller teller(*this, batch, plan.list.jobs.size());
  const RunTotals totals =
      convfilt::run(batch, plan, *crew, [&](const PictureOutcome& outcome) { teller(outcome); });
  teller.end();
  if (is_one) return;
  for (const std::string& failure : totals.device_failures)
    log_warning(failure + "; it was given up, and the CPU did again what it had begun");
  log_note(summary_of(totals));
  log_detail(shares_of(totals, batch.convolver.request.threads));
  if (totals.through_gpu > 0) log_detail(shares_of_lanes(totals, crew->device_lanes()));
  if (batch.is_stopped() && totals.not_begun > 0) {
    log_error("stopped by a signal; the same command with --resume does the rest");
    signals->die_if_asked();
  }
  const auto refused = std::int64_t(plan.list.refused.size());
  const auto unread = std::int64_t(plan.list.unread.size());
  const std::int64_t failed = totals.failed + refused;
  if (failed > 0 || unread > 0 || totals.not_begun > 0)
    throw IoError(
        std::to_string(failed) + " of " +
        std::to_string(std::int64_t(plan.list.jobs.size()) + refused) + " pictures failed" +
        (unread > 0 ? ", " + std::to_string(unread) +
                          (unread == 1 ? " folder was not read" : " folders were not read")
                    : "") +
        (totals.not_begun > 0 ? ", and " + std::to_string(totals.not_begun) + " were not begun"
                              : "") +
        "; when that is mended, the same command with --resume does the rest");
}

}  // namespace convfilt
