#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <thread>

#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/signals.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;
namespace fs = std::filesystem;

namespace {

/// This is called before the named system call is made. A test that watches sets it.
std::function<void(const char* call, int fd)> watch;

void tell(const char* call, int fd = -1) {
  if (watch) watch(call, fd);
}

}  // namespace

// The program's own definitions come before those of the C library, so all of its calls pass here.
extern "C" int fdatasync(int fd) {
  tell("fdatasync", fd);
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}
extern "C" int linkat(int from_folder, const char* from, int to_folder, const char* to,
                      int flags) noexcept {
  tell("linkat");
  return static_cast<int>(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}
extern "C" int rename(const char* from, const char* to) noexcept {
  tell("rename");
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace {

constexpr Temporary kBoth[] = {Temporary::nameless, Temporary::named};

/// Runs `work` in a child process and returns its process id. `work` returns the exit code.
pid_t child(const std::function<int()>& work) {
  const pid_t pid = fork();
  if (pid == 0) _exit(work());
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

mode_t mode_of(const std::string& path) {
  struct stat info {};
  stat(path.c_str(), &info);
  return info.st_mode & 07777;
}

}  // namespace

TEST_CASE("files are written whole, new or not, and nothing is left beside them") {
  for (const Temporary temporary : kBoth) {
    const TemporaryFolder folder;
    write_file(folder / "a", Bytes(3'000'000, 'A'), temporary);
    CHECK(load(folder / "a") == Bytes(3'000'000, 'A'));
    write_file(folder / "a", Bytes(10, 'B'), temporary);
    CHECK(load(folder / "a") == Bytes(10, 'B'));
    CHECK(folder.files() == 1);
  }
}

TEST_CASE("an old file keeps its mode, a new one follows the umask") {
  for (const Temporary temporary : kBoth) {
    const TemporaryFolder folder;
    const mode_t before = umask(027);
    write_file(folder / "a", Bytes(10, 'A'), temporary);
    CHECK(mode_of(folder / "a") == 0640);
    chmod((folder / "a").c_str(), 0604);
    write_file(folder / "a", Bytes(10, 'B'), temporary);
    CHECK(mode_of(folder / "a") == 0604);
    umask(before);
  }
}

TEST_CASE("links are followed and stay") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "d");
  fs::create_symlink("d/target", folder / "first");
  fs::create_symlink("first", folder / "second");
  for (const char letter : {'A', 'B'}) {  // first through links that dangle
    write_file(folder / "second", Bytes(10, static_cast<unsigned char>(letter)));
    CHECK(fs::is_symlink(folder / "second"));
    CHECK(fs::is_symlink(folder / "first"));
    CHECK(load(folder / "d/target") == Bytes(10, static_cast<unsigned char>(letter)));
  }
  fs::create_symlink("circle", folder / "circle");
  CHECK_THROWS_AS(write_file(folder / "circle", Bytes(10)), IoError);
}

TEST_CASE("pipes and open descriptors are written into") {
  // No device is written here, since a bug would replace it, and tests may run as root.
  const TemporaryFolder folder;
  mkfifo((folder / "pipe").c_str(), 0600);
  Bytes got;
  std::thread reader([&] { got = load(folder / "pipe"); });
  write_file(folder / "pipe", Bytes(100'000, 'A'));
  reader.join();
  CHECK(got == Bytes(100'000, 'A'));
  CHECK(fs::is_fifo(folder / "pipe"));

  const int fd = open((folder / "a").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  struct stat before {
  }, after{};
  fstat(fd, &before);
  write_file("/proc/self/fd/" + std::to_string(fd), Bytes(10, 'A'));
  stat((folder / "a").c_str(), &after);
  close(fd);
  CHECK(before.st_ino == after.st_ino);
  CHECK(load(folder / "a") == Bytes(10, 'A'));
}

TEST_CASE("a file size limit is an error and leaves the old file") {
  for (const Temporary temporary : kBoth) {
    const TemporaryFolder folder;
    save(folder / "a", Bytes(10, 'A'));
    const int status = wait_for(child([&] {
      const rlimit limit{4096, 4096};
      setrlimit(RLIMIT_FSIZE, &limit);
      try {
        write_file(folder / "a", Bytes(1'000'000, 'B'), temporary);
      } catch (const IoError&) {
        return 7;
      }
      return 0;
    }));
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
    CHECK(load(folder / "a") == Bytes(10, 'A'));
    CHECK(folder.files() == 1);
  }
}

TEST_CASE("a closed pipe on standard output is an error") {
  const int status = wait_for(child([] {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    try {
      write_stdout(Bytes(1'000'000));
    } catch (const IoError&) {
      return 7;
    }
    return 0;
  }));
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("killed at any moment, a file is the old or the new one") {
  constexpr std::size_t kSize = 2'000'000;
  for (int round = 0; round < 12; ++round) {
    const TemporaryFolder folder;
    const std::string kept = folder / "kept", fresh = folder / "fresh";
    save(kept, Bytes(kSize, 'A'));
    const pid_t pid = child([&] {
      for (unsigned char letter = 'B';; letter = letter == 'B' ? 'C' : 'B') {
        write_file(kept, Bytes(kSize, letter));
        unlink(fresh.c_str());
        write_file(fresh, Bytes(kSize, letter));
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(3000 + 2711 * round));
    kill(pid, SIGKILL);
    wait_for(pid);
    const Bytes bytes = load(kept);
    REQUIRE(bytes.size() == kSize);
    CHECK(bytes == Bytes(kSize, bytes[0]));
    if (fs::exists(fresh)) CHECK(load(fresh).size() == kSize);
  }
}

TEST_CASE("a signal removes a named temporary and still ends the program") {
  const TemporaryFolder folder;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    save(folder / "temporary", Bytes(10));
    const int status = wait_for(child([&] {
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      std::signal(signal, SIG_DFL);
      const SignalCleanup cleanup(folder / "temporary");
      raise(signal);
      return 0;
    }));
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
    CHECK(folder.files() == 0);
  }
}

TEST_CASE("a temporary that many came before is removed by a signal, too") {
  const TemporaryFolder folder;
  const int status = wait_for(child([&] {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    std::signal(SIGTERM, SIG_DFL);
    for (int i = 0; i < 40; ++i) const SignalCleanup done(folder / "done");
    const SignalCleanup cleanup(folder / "temporary");
    save(folder / "done", Bytes(10));
    save(folder / "temporary", Bytes(10));
    raise(SIGTERM);
    return 0;
  }));
  REQUIRE(WIFSIGNALED(status));
  CHECK(fs::exists(folder / "done"));
  CHECK(!fs::exists(folder / "temporary"));
}

TEST_CASE("a signal that is ignored, as by nohup, stays so while a file is written") {
  const TemporaryFolder folder;
  const int status = wait_for(child([&] {
    std::signal(SIGHUP, SIG_IGN);
    {
      const SignalCleanup cleanup(folder / "temporary");
      save(folder / "temporary", Bytes(10));
      raise(SIGHUP);
    }
    raise(SIGHUP);
    return 3;
  }));
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
  CHECK(folder.files() == 1);
}

TEST_CASE("an error before a call does not count for it") {
  std::FILE* const file = std::tmpfile();
  const std::vector<unsigned char> bytes = {1, 2, 3};
  std::vector<unsigned char> back(4);
  errno = EINTR;
  CHECK(write_at(fileno(file), 0, bytes));
  errno = EINTR;
  CHECK(read_at(fileno(file), 0, back) == 3);
  CHECK(back == std::vector<unsigned char>{1, 2, 3, 0});
  std::fclose(file);
}

TEST_CASE("a file's size is that of its farthest byte, in whatever order it is written") {
  for (const Temporary temporary : kBoth) {
    const TemporaryFolder folder;
    AtomicFile file(folder / "a", temporary);
    file.write(90, Bytes(10, 'B'));
    file.write(0, Bytes(5, 'A'));
    CHECK(file.size() == 100);
    file.commit();
    CHECK(load(folder / "a").size() == 100);
  }
}

TEST_CASE("one file by two names is one output, and a device is no file") {
  const TemporaryFolder folder;
  save(folder / "a", Bytes(10));
  fs::create_hard_link(folder / "a", folder / "b");
  CHECK(same_output(folder / "a", folder / "b"));
  CHECK(same_output(folder / "new", folder / "./new"));
  CHECK(!same_output(folder / "a", folder / "c"));
  CHECK(same_file(folder / "a", folder / "b"));
  CHECK(!same_file("/dev/null", "/dev/null"));
}

TEST_CASE("the data is on the disk before the file has its name") {
  for (const Temporary temporary : kBoth) {
    for (const bool replaces : {false, true}) {
      const TemporaryFolder folder;
      if (replaces) save(folder / "a", Bytes(10, 'A'));
      std::vector<std::string> calls;
      off_t synced = 0;
      watch = [&](const char* call, int fd) {
        struct stat info {};
        if (std::string(call) == "fdatasync" && fstat(fd, &info) == 0) synced = info.st_size;
        calls.emplace_back(call);
      };
      write_file(folder / "a", Bytes(3'000'000, 'B'), temporary);
      watch = nullptr;
      CAPTURE(replaces);
      REQUIRE(calls.size() >= 2);
      CHECK(calls[0] == "fdatasync");
      CHECK(synced == 3'000'000);
      CHECK(std::count(calls.begin(), calls.end(), "fdatasync") == 1);
    }
  }
}

TEST_CASE("a signal while a file is written leaves the old one and nothing else") {
  // A named temporary is there when it is synced; a nameless file has a second name when it is
  // renamed.
  for (const auto& [temporary, call] : {std::pair{Temporary::named, "fdatasync"},
                                        {Temporary::named, "rename"},
                                        {Temporary::nameless, "rename"}}) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      const TemporaryFolder folder;
      save(folder / "a", Bytes(10, 'A'));
      const int status = wait_for(child([&, how = temporary, when = std::string(call)] {
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        std::signal(signal, SIG_DFL);
        watch = [&](const char* now, int) {
          if (now == when && folder.files() == 2) raise(signal);
        };
        write_file(folder / "a", Bytes(1'000'000, 'B'), how);
        return 0;
      }));
      CAPTURE(call);
      REQUIRE(WIFSIGNALED(status));
      CHECK(WTERMSIG(status) == signal);
      CHECK(load(folder / "a") == Bytes(10, 'A'));
      CHECK(folder.files() == 1);
    }
  }
}

TEST_CASE("an old file keeps its owner, as far as the system allows") {
  if (geteuid() != 0) {
    MESSAGE("skipped: only root can give files away");
    return;
  }
  for (const Temporary temporary : kBoth) {
    const TemporaryFolder folder;
    save(folder / "a", Bytes(10, 'A'));
    REQUIRE(chown((folder / "a").c_str(), 1234, 4321) == 0);
    chmod((folder / "a").c_str(), 04711);  // chown takes the set-user-id bit away
    write_file(folder / "a", Bytes(20, 'B'), temporary);
    struct stat info {};
    REQUIRE(stat((folder / "a").c_str(), &info) == 0);
    CHECK(info.st_size == 20);
    CHECK(info.st_uid == 1234);
    CHECK(info.st_gid == 4321);
    CHECK(mode_of(folder / "a") == 04711);
  }
}

TEST_CASE("a name of which nobody can tell whether a file has it is an error") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(resolve_output(folder / std::string(300, 'x')), IoError);
  CHECK_NOTHROW(resolve_output(folder / "new"));
  CHECK_NOTHROW(resolve_output(folder / "missing/new"));
}

TEST_CASE("a folder that is missing is an error") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(write_file(folder / "no/a", Bytes(10)), IoError);
  CHECK_THROWS_AS(write_file(folder / ".", Bytes(10)), IoError);
}

TEST_CASE("a file that is not to be replaced stays, even one that appears in the last moment") {
  for (const Temporary temporary : kBoth) {
    const TemporaryFolder folder;
    const std::string path = folder / "out";
    const Bytes fresh(1000, 'n'), old(10, 'o');
    {
      AtomicFile file(path, temporary);
      file.write(0, fresh);
      file.commit({}, false);
      CHECK(load(path) == fresh);
    }
    for (const bool appears_late : {false, true}) {
      CAPTURE(appears_late);
      fs::remove(path);
      if (!appears_late) save(path, old);
      {
        AtomicFile file(path, temporary);
        file.write(0, fresh);
        const auto appear = [&](const FileStamp&) {
          if (appears_late) save(path, old);
        };
        CHECK_THROWS_AS(file.commit(appear, false), FileIsThere);
      }
      CHECK(load(path) == old);
      CHECK(folder.files() == 1);
    }
  }
}

TEST_CASE("what killed processes have left is removed, and what others write stays") {
  const TemporaryFolder folder;
  const std::string left = folder / ".convfilt-123-456.tmp";
  for (const std::string& path :
       {left, std::string(folder / ".convfilt-journal"), std::string(folder / "other.tmp")})
    write_file(path, Bytes(10));
  std::filesystem::create_symlink(folder / "other.tmp", folder / ".convfilt-9-9.tmp");
  const auto hidden = [&] {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(folder / "")))
      files += entry.path().filename().string().starts_with(".convfilt-");
    return files;
  };
  {
    AtomicFile named(folder / "a", Temporary::named);
    named.write(0, Bytes(5));
    CHECK(hidden() == 4);
    remove_temporaries_left(folder / "");
    CHECK(hidden() == 3);
    CHECK_FALSE(std::filesystem::exists(left));
    named.commit();
  }
  CHECK(stamp_of(folder / "a")->size == 5);
  CHECK(std::filesystem::exists(std::string(folder / ".convfilt-journal")));
  CHECK(std::filesystem::exists(std::string(folder / "other.tmp")));
}
