/// The record of a folder of pictures, so that a later run does just what is missing.
///
/// A journal is a text file in the folder of the results. Each line ends with a hash of the text
/// before it, so that a line that a crash has cut is ignored. Lines are only ever added: a run says
/// first what it is about to do, then each picture just before its result gets its name. The entry
/// has the stamp that the result has then, so a crash between the two shows. A result that a run
/// finds and leaves is "kept", not done: other options may have made it. Results with names that
/// are not their inputs' are remembered when a journal begins anew, since they may lie beside
/// inputs, and are none. The line at a run's end has a hash of all that the lines before it say
/// together, so that a line that is changed or taken away later shows, and a line that a crash has
/// cut does not matter once another says the same.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/base/atomic_file.hpp"
#include "src/base/descriptor.hpp"
#include "src/run/shard.hpp"

namespace convfilt {

/// A picture and its result.
struct DoneEntry {
  std::string name;    ///< Job::name
  std::string result;  ///< below the folder of the results
  FileStamp in, out;
};

/// The part of a journal's settings that decides bytes. A recipe behind it is for readers.
inline std::string_view hash_in(std::string_view settings) {
  return settings.substr(0, settings.find(' '));
}

/// How a picture has ended, as far as a journal tells. One that was kept was not made by the
/// journal's settings, as far as known.
enum class RecordState : unsigned char { open, done, kept, failed };

/// What a journal says of a picture. There may be many millions.
struct Record {
  RecordState state = RecordState::open;
  bool is_planned = false;
  std::string text{};  ///< why it failed; else its result, empty where that has the picture's name
  FileStamp in{}, out{};
};

/// The contents of one journal.
struct JournalContents {
  Shard shard;
  std::string settings;                              ///< what the results were made by; see Journal
  std::unordered_map<std::string, Record> pictures;  ///< by name; the latest line counts
  std::unordered_map<std::string, FileStamp>
      renamed;                 ///< results, of earlier runs, too, with names not their inputs'
  std::string decoders;        ///< the kind of GPUs' decoders; empty where none was used
  bool has_ended = false;      ///< whether the last run came to its end
  bool has_changed = false;    ///< whether it has, and the lines say something else than then
  std::int64_t bad_lines = 0;  ///< cut or changed, and passed over

  /// The entry of a picture that was done; nothing for any other.
  std::optional<DoneEntry> done(const std::string& name) const;
  /// The same, but for one that was kept, too.
  std::optional<DoneEntry> result_of(const std::string& name) const;

  /// The same for any two journals that say the same of every picture.
  std::uint64_t hash() const;
};

/// A journal's name, which begins with a dot: those of shards have their numbers.
std::string journal_name(const Shard& shard);

/// The shards that have journals in a folder, in order. Throws IoError where that cannot be listed.
std::vector<Shard> shards_in(const std::string& folder);

/// Whether there is a journal that has come as far as its title: a full disk can leave an empty
/// one, and a crash one whose title is cut. Throws IoError where the file cannot be read, or is a
/// pipe, a folder or a device.
bool is_begun(const std::string& path);

/// Throws IoError as is_begun() does, and where the file is not there or is no journal.
JournalContents read_journal(const std::string& path, bool title_alone = false);

/// The journal with which a run of this shard goes on: its own, or else the joined one; empty where
/// there is none. Throws as is_begun() does.
std::string journal_to_resume(const std::string& folder, const Shard& shard);

/// Reads the folder's journal `path` for a run of this shard by these settings. Throws IoError if
/// its settings differ, or if a run with other settings came later: a run without shards, if this
/// one is a shard, and else a shard.
JournalContents read_journal_to_resume(const std::string& folder, const Shard& shard,
                                       const std::string& path, const std::string& settings);

/// Whether a result below the folder is still the file that a journal tells of.
bool is_there(const std::string& folder, const std::string& result, const FileStamp& stamp);

/// The results that journals in a folder tell of and that are still there, below it, and have names
/// that are not their inputs'.
std::set<std::string> renamed_results_in(const std::string& folder);

/// A journal that is being written.
class Journal {
 public:
  /// Begins a journal in `folder`, or goes on with it where `resumes`; a shard's goes on with the
  /// joined one where it has none of its own. `settings` is a hash of all that decides the bytes of
  /// results. Throws IoError, also where another run is under way in the folder, unless both are
  /// different shards.
  Journal(const std::string& folder, const Shard& shard, const std::string& settings, bool resumes);

  /// The work of earlier runs by the same settings. Where this one does not resume, the file begins
  /// anew and nothing is planned in it, but their work is still here, unless GPUs' decoders took
  /// part, whose kind may be another one now.
  const JournalContents& before() const { return before_; }

  /// Whether the file has nothing of that yet.
  bool is_new() const { return is_new_; }

  /// Several threads may call these at once. They throw IoError.
  void plan(const std::vector<std::string>& names);
  void done(const DoneEntry& entry);
  void kept(const DoneEntry& entry);  ///< it was there, and stays
  void failed(const std::string& name, const std::string& why);
  void decoders(const std::string& kind);
  void gone(const std::string& name);  ///< it is asked for no more
  /// A result of an earlier run, or of another shard.
  void renamed(const std::string& result, const FileStamp& stamp);
  /// Forgets what was before, since it reads the whole file again.
  void end();

 private:
  void add(const std::string& text);

  std::string path_;
  Descriptor file_;
  Descriptor joined_;  ///< of a shard: locked, so that no run without shards begins meanwhile
  std::mutex mutex_;
  bool is_new_ = true;
  bool is_cut_ = false;  ///< whether the latest line was written in part
  JournalContents before_;
};

}  // namespace convfilt
