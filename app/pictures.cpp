#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <optional>

#include "app/commands.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/stable_hash.hpp"
#include "src/base/stop_on_signal.hpp"
#include "src/mask/file.hpp"
#include "src/picture/bytes.hpp"
#include "src/picture/formats.hpp"
#include "src/picture/io.hpp"
#include "src/picture/jpeg/device.hpp"
#include "src/run/folder.hpp"
#include "src/run/tell.hpp"

namespace convfilt {
namespace {

/// Filters pictures one after the other with one convolver, which keeps its plans.
class PictureLane : public Lane {
 public:
  /// `request` is that of the run, with the lane's own threads and number.
  PictureLane(const PictureOptions& options, const FilterPtr& filter, const Request& request)
      : options_(options),
        filter_(filter),
        request_(request),
        convolver_(with(options.convolver, request)) {}

  FileReport filter(const FileJob& job) override {
    // Nobody would count what plans keep between pictures.
    const DropLargePlans drop{options_.folder.schedule.max_memory > 0 ? &convolver_ : nullptr};
    FileReport report = filter_file(job, *filter_, convolver_);
    const Choice& choice = convolver_.report().choice;
    report.strategy = choice.strategy->name;
    report.device = name_of(choice.device);
    return report;
  }

  std::optional<int> gpu() const override { return gpu_of(request_, this_machine()); }

 private:
  struct DropLargePlans {
    Convolver* convolver;
    ~DropLargePlans() {
      if (convolver) convolver->drop_large_plans();
    }
  };

  static ConvolverOptions with(ConvolverOptions options, const Request& request) {
    options.request = request;
    return options;
  }

  const PictureOptions& options_;
  const FilterPtr& filter_;
  const Request request_;
  Convolver convolver_;
};

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// A hash of all that decides the bytes of results, but for how the work is shared. Every option
/// that decides one must be in the text: tests/cli/folders/settings.sh finds those that are not.
std::string settings_of(const PictureOptions& options, const FilterPtr& filter, CodecKind codec) {
  const ReadOptions& read = options.folder.schedule.read;
  const WriteOptions& write = options.folder.schedule.write;
  std::string text = CONVFILT_VERSION;
  const auto add = [&](const auto& value) {
    if constexpr (requires { std::string(value); })
      text += "|" + std::string(value);
    else
      text += "|" + std::to_string(value);
  };
  add(describe(*filter, options.convolver));
  add(read.refuse_damaged);
  add(read.page);
  add(int(read.loader));
  add(write.format);
  add(write.quality.value_or(-1));
  add(write.subsampling ? write.subsampling->across * 10 + write.subsampling->down : 0);
  add(write.progressive);
  add(write.compression.value_or(-1));
  add(write.strip);
  text += settings_of_codec(codec, DeviceJpeg::version);
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(stable_hash(text)));
  return hash;
}

void print_plan(const FolderPlan& plan, bool json) {
  for (const std::size_t i : plan.to_filter) {
    const Job& job = plan.list.jobs[i];
    print_result(json ? json_line(job) + "\n"
                      : printable_name(job.in) + " -> " + printable_name(job.out) + "\n");
  }
  for (const PictureOutcome& outcome : plan.settled)
    print_result(json ? json_line(outcome) + "\n"
                      : printable_name(outcome.job->in) + ": " +
                            (outcome.outcome == Outcome::failed ? "fails: " : "skipped: ") +
                            outcome.reason + "\n");
}

void note_what_is_left_out(const JobList& list, bool json) {
  if (list.other_files > 0)
    log_detail(plural(list.other_files, "other file") +
               " passed over; --glob takes files by other names");
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

/// Why GPUs cannot read and write JPEGs of this run, with the remedy.
std::string gpu_codec_refuses(const PictureOptions& options, const Filter& filter) {
  if (const std::string why = filter.resident_refuses(); !why.empty()) return why;
  if (options.folder.schedule.read.loader != Loader::automatic)
    return "--loader names another codec";
  if (options.folder.schedule.write.progressive) return "--progressive needs the CPU's codec";
  const std::string& device = options.convolver.request.device;
  if (device == name_of(DeviceKind::cpu) || device == name_of(DeviceKind::emulator))
    return "--device=" + device + " names no GPU";
  const std::string& name = options.convolver.request.strategy;
  const Strategy* strategy = this_machine().find(name);
  if (strategy && !strategy->runs_on(DeviceKind::cuda))
    return "--strategy=" + name + " does not run on a GPU";
  return "";
}

/// Who reads and writes the JPEGs of a run where nobody says so. A run goes on as it was begun.
CodecKind choose_codec(const PictureOptions& options, const FilterPtr& filter,
                       const FolderOptions& folder, const FolderPlan& plan) {
  CodecQuestion question;
  question.refusal = gpu_codec_refuses(options, *filter);
  if (folder.resume)
    question.begun = codec_begun(settings_of_journal(folder), [&](CodecKind codec) {
      return settings_of(options, filter, codec);
    });
  question.is_shard = folder.shard.count > 1;
  std::vector<Job> jobs;
  for (const std::size_t i : plan.to_filter) jobs.push_back(plan.list.jobs[i]);
  question.bytes = bytes_for_gpu(jobs, folder.schedule.write);
  const CodecAnswer answer = automatic_codec(question, this_machine(), gpu_codec_missing);
  log_detail("JPEGs are read and written by the " +
             std::string(answer.codec == CodecKind::gpu ? "GPU" : "CPU") + ": " + answer.why);
  return answer.codec;
}

/// Gives the run its GPUs. Throws UsageError and DeviceError where it can have none.
void add_gpus(const PictureOptions& options, const FilterPtr& filter, FolderOptions& folder) {
  if (const std::string why = gpu_codec_refuses(options, *filter); !why.empty())
    throw UsageError("--codec=gpu: " + why + "; use --codec=cpu");
  const Machine machine = this_machine();
  if (const std::string missing = gpu_codec_missing(machine); !missing.empty())
    throw DeviceError("--codec=gpu: " + missing);
  std::string devices = options.devices;
  if (devices.empty()) {
    // --device=cuda:1 names one, and cuda alone any.
    const std::string& device = options.convolver.request.device;
    const std::size_t colon = device.find(':');
    devices = colon == device.npos ? "all" : device.substr(colon + 1);
  }
  const std::vector<int> ordinals = device_ordinals(devices, machine);
  folder.schedule.devices = gpu_lanes(ordinals, options.convolver, filter, machine);
  folder.decoders = {DeviceJpeg::decoders, DeviceJpeg::keep_to};
  DeviceJpeg::keep_to(decoders_for(ordinals, machine));
}

/// Throws IoError where pictures that a dry run has listed would fail.
void end_dry_run(const FolderPlan& plan, bool json) {
  print_plan(plan, json);
  const auto unread = std::int64_t(plan.list.unread.size());
  const std::int64_t fail =
      std::int64_t(plan.list.refused.size()) +
      std::ranges::count(plan.settled, Outcome::failed, &PictureOutcome::outcome);
  if (fail + unread > 0)
    throw IoError(plural(fail, "picture") + " would fail" +
                  (unread > 0 ? ", and " + plural(unread, "folder") + " cannot be read" : ""));
}

void filter_folder_of(const PictureOptions& options, const FilterPtr& filter) {
  check_options(options.folder.schedule.write);
  FolderOptions folder = options.folder;
  folder.schedule.threads =
      threads_within(folder.schedule.max_memory, options.convolver.request.threads);
  const FolderPlan plan = plan_folder(folder);
  note_what_is_left_out(plan.list, options.json);
  if (plan.list.has_passed_out && journal_to_resume(folder.selection.out, folder.shard).empty())
    log_note(quoted_name(folder.selection.out) +
             " is OUT, so pictures in it are taken for results and left out");
  const auto refused = std::int64_t(plan.list.refused.size());
  const auto unread = std::int64_t(plan.list.unread.size());
  if (plan.list.jobs.empty() && unread + refused == 0 && folder.shard.count == 1)
    throw IoError("there are no pictures to filter" +
                  std::string(folder.selection.recursive ? "" : "; -r looks into folders, too"));

  const CodecKind codec = options.codec == CodecKind::automatic
                              ? choose_codec(options, filter, folder, plan)
                              : options.codec;
  folder.settings = settings_of(options, filter, codec);
  if (options.dry_run) {
    check_resumes(folder);
    return end_dry_run(plan, options.json);
  }
  if (codec == CodecKind::gpu) add_gpus(options, filter, folder);
  // A device that is not there is refused at once; one that fails later leaves its work to the CPU.
  wanted_device(options.convolver.request.device, this_machine());
  const StopOnSignal signals;
  folder.schedule.stop = &signals.stop();
  ProgressBar progress(std::int64_t(plan.list.jobs.size()),
                       options.progress && options.loudness != Loudness::quiet);
  const auto tell = [&](const PictureOutcome& outcome) {
    const bool is_plain =
        outcome.outcome == Outcome::filtered && outcome.report.warnings.empty() && !options.json;
    if (!is_plain) progress.clear();
    for (const std::string& warning : outcome.report.warnings) log_warning(warning);
    if (outcome.outcome == Outcome::failed)
      log_error(outcome.reason);
    else if (outcome.outcome == Outcome::skipped)
      log_detail(printable_name(outcome.job->in) + ": skipped, " + outcome.reason);
    if (options.json) print_result(json_line(outcome) + "\n");
    if (outcome.outcome != Outcome::not_begun) progress.count(outcome);
  };
  // Shards and the rest of a run choose devices as the whole would.
  Request request = options.convolver.request;
  constexpr std::size_t kMost = 1 << 30;
  request.pictures = int(std::min(plan.of_all_shards, kMost));
  if (!options.devices.empty()) {
    const Machine machine = this_machine();
    if (has_cuda(machine))
      request.ordinals = device_ordinals(options.devices, machine);
    else
      log_warning("--devices: there is no CUDA device here; the CPU does all");
  }
  std::atomic<int> lanes = 0;
  const MakeLane make_lane = [&](const LaneRequest& asked) {
    Request own = request;
    own.threads = asked.threads;
    own.lane = lanes++;
    bool on_cpu = asked.on_cpu;
    if (!asked.failed.empty()) {
      own.ordinals = shared_gpus(request, this_machine());
      std::erase_if(own.ordinals, [&](int ordinal) { return asked.failed.contains(ordinal); });
      on_cpu = on_cpu || own.ordinals.empty();
    }
    if (on_cpu) own.device = name_of(DeviceKind::cpu);
    return std::make_unique<PictureLane>(options, filter, own);
  };
  const FolderTotals totals = filter_folder(folder, plan, make_lane, tell);
  progress.clear();
  for (const std::string& failure : totals.device_failures)
    log_warning(failure + "; it was given up, and the CPU did again what it had begun");
  log_note(summary_of(totals));
  log_detail(shares_of(totals, folder.schedule.threads));
  if (totals.through_gpu > 0) log_detail(shares_of_lanes(totals, folder.schedule.devices.size()));
  if (signals.stop() && totals.not_begun > 0) {
    log_error("stopped by a signal; the same command with --resume does the rest");
    signals.die_if_asked();
  }
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

std::string file_name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// Filters a list of one picture, whose OUT is a file or standard output.
void filter_one(const PictureOptions& options, const FilterPtr& filter) {
  FolderOptions one = options.folder;
  const std::string in = one.selection.inputs.front(), out = one.selection.out;
  const bool is_file = in != "-" && out != "-";
  if (out == "-" && isatty(STDOUT_FILENO))
    throw UsageError("a picture is not for a terminal; redirect standard output, e.g. > out.png");
  if (out == "-" && options.json && !options.dry_run)
    throw UsageError("--json: the picture goes to standard output; name a file for OUT");
  if (one.resume && !is_file)
    throw UsageError("--resume: standard input and output have no journal; name files");
  check_output(in, out, one.schedule.write, one.selection.in_place);
  if (one.resume) one.settings = settings_of(options, filter, CodecKind::cpu);
  one.selection.out = folder_of(out);
  check_resumes(one);
  const FolderPlan plan = plan_picture(one, {in, file_name_of(in), out});
  if (options.dry_run) return end_dry_run(plan, options.json);

  PictureOutcome outcome;
  outcome.job = &plan.list.jobs.front();
  const auto tell = [&] {
    if (options.json) print_result(json_line(outcome) + "\n");
  };
  if (!plan.settled.empty()) {
    outcome = plan.settled.front();
    tell();
    if (outcome.outcome == Outcome::failed) throw IoError(outcome.reason);
    return log_detail(printable_name(in) + ": skipped, " + outcome.reason);
  }
  const std::int64_t most = one.schedule.max_memory;
  FileJob job{in, out, one.schedule.read, one.schedule.write, options.convolver.request.threads};
  job.replaces = one.replaces();
  job.has_room = [&](std::int64_t bytes) { return most == 0 || bytes <= most; };
  job.admit = [&](std::int64_t bytes, bool all) {
    if (!job.has_room(bytes)) throw IoError(takes_too_much(in, bytes, all, most));
  };
  // The journal of the folder in which OUT lies: a run of the whole folder goes on with it.
  std::optional<Journal> journal;
  if (one.resume) journal.emplace(one.selection.out, Shard{}, one.settings, true);
  if (journal) journal->plan({outcome.job->name});
  DoneEntry entry{outcome.job->name, file_name_of(out), {}, {}};
  if (is_file) entry.in = stamp_of(in).value_or(FileStamp{});
  job.before_commit = [&](const FileStamp& written) {
    entry.out = written;
    if (journal) journal->done(entry);
  };
  try {
    outcome.report = filter_picture(options, *filter, job);
  } catch (const std::exception& error) {
    outcome.outcome = Outcome::failed;
    outcome.reason = error.what();
    tell();
    throw;
  }
  if (journal && (journal->is_new() || journal->before().has_ended)) journal->end();
  outcome.bytes_read = entry.in.size;
  outcome.bytes_written = entry.out.size;
  tell();
}

}  // namespace

void run(const FilterCommand& command) {
  const PictureOptions& options = command.picture;
  const Selection& selection = options.folder.selection;
  for (const FilterOption& option : command.line->options)
    if (option.letters == "MASK") check_keeps_mask(command.values.word(option.name), selection.out);
  const FilterPtr filter = mapped(command.line->make(command.values), options.mapping);
  const std::string& out = selection.out;
  const std::string in = selection.inputs.empty() ? "" : selection.inputs.front();
  const bool many = !options.needs_folder.empty() || selection.inputs.size() != 1 ||
                    is_folder(in) || is_folder(out) || out.ends_with('/');
  if (!many) {
    // OUT may have been meant as the folder that IN would have needed, had it been there.
    if (in != "-" && extension_of(out).empty() && options.folder.schedule.write.format.empty() &&
        ::access(in.c_str(), F_OK) != 0)
      open_source(in);
    return filter_one(options, filter);
  }
  if (!is_folder(out) && find_format(extension_of(out)))
    throw UsageError(
        "OUT is " + quoted_name(out) + ", a picture's name, and " +
        (options.needs_folder.empty() ? "these inputs need" : options.needs_folder + " needs") +
        " a folder; name one, such as out/");
  if (out == "-" || std::ranges::count(selection.inputs, "-") > 0)
    throw UsageError(
        "standard input and output hold one picture each; name files and folders, or "
        "one IN and one OUT");
  filter_folder_of(options, filter);
}

void run(const MergeCommand& command) {
  const MergeReport report = merge_journals(command.out);
  const auto name = [](const Shard& shard) {
    return std::to_string(shard.index) + "/" + std::to_string(shard.count);
  };
  for (const Shard& shard : report.missing_shards)
    print_result("shard " + name(shard) + " has no journal: run it with --shard " + name(shard) +
                 "\n");
  const auto print_resumable = [&](const std::vector<Shard>& shards, const std::string& why) {
    for (const Shard& shard : shards)
      print_result(shard.count == 1 ? "the run " + why + ": run it with --resume\n"
                                    : "shard " + name(shard) + " " + why +
                                          ": run it with --shard " + name(shard) + " --resume\n");
  };
  print_resumable(report.unfinished_shards, "has not ended");
  print_resumable(report.changed_shards, "has a journal that was changed after it had ended");
  for (const std::string& missing : report.missing)
    print_result("missing: " + printable_name(missing) + "\n");
  for (const std::string& kept : report.kept) print_result("kept: " + printable_name(kept) + "\n");
  for (const auto& [failed, why] : report.failed)
    print_result("failed: " + printable_name(failed) + ": " + why + "\n");
  for (const std::string& twice : report.twice)
    print_result("twice: " + printable_name(twice) + "\n");
  if (report.bad_lines > 0)
    log_warning(plural(report.bad_lines, "line") + " of journals cut or changed, and passed over");
  print_result(plural(report.done, "picture") + " done, " + std::to_string(report.missing.size()) +
               " missing, " + std::to_string(report.failed.size()) + " failed, " +
               std::to_string(report.twice.size()) + " done twice" +
               (report.kept.empty() ? "" : ", " + std::to_string(report.kept.size()) + " kept") +
               "\n");
  if (!report.kept.empty())
    log_note(
        "what was kept was there before, perhaps by other options; the same command with --resume, "
        "and without --if-exists=skip and --newer, makes it anew");
  if (!report.is_whole())
    throw IoError("the results are not whole yet; the journals stay as they are");
}

}  // namespace convfilt
