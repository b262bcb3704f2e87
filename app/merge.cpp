#include "src/run/merge.hpp"
#include "app/commands.hpp"
#include "app/grammar/commands.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"

namespace convfilt {
namespace {

struct MergeCommand : Command {
  std::string out;
  Loudness loudness = Loudness::normal;

  void run() override;
};

void MergeCommand::run() {
  const MergeReport report = merge_journals(out);
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
        "the kept results were there before, perhaps made with other options; the same command "
        "with --resume, and without --if-exists=skip and --newer, makes them anew");
  if (!report.is_whole())
    throw IoError("the results are not complete yet; the journals stay as they are");
}

void declare(Binder& binder, MergeCommand& command) {
  binder.positional("OUT", command.out, "The folder of the results");
  message_options(binder, command.loudness);
}

}  // namespace

const OtherCommand kMerge{
    {"merge", "Report which results of several machines are missing",
     "Join the journals that runs with --shard left in the folder of their results,\n"
     "and report which pictures are missing, have failed or were done twice, and which\n"
     "were kept because they were there before, perhaps made with other options.\n",
     "  convfilt blur photos/ out/ --shard 1/2           on one machine\n"
     "  convfilt blur photos/ out/ --shard 2/2           on another\n"
     "  convfilt merge out/\n"},
    declare_as<MergeCommand>};

}  // namespace convfilt
