#!/usr/bin/env python3
"""Makes mutants of the program, and says which of them the tests kill.

    tests/mutants.py make COUNT SEED FOLDER... >LIST    a mistake each in random lines below the folders
    tests/mutants.py run BUILD LIST [short]             applies, builds and tests one after the other, and takes it back

A line of LIST is FILE, LINE, what stood there and what stands there now, with tabs between. The tests that are run are those
of the mutant's folder: first as tests/run.sh runs them, then, if all pass and the last word is not short, as `tests/run.sh
full` does. Run it in a worktree
of its own, where nothing else changes files. A mutant that survives both is a gap, or it has no effect.
"""
import os
import random
import re
import subprocess
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CHANGES = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "), (" && ", " || "),
           (" || ", " && "), (" + ", " - "), (" - ", " + "), (" * ", " + "), (" / ", " * "), (" += ", " -= "), (" |= ", " = "),
           ("true", "false"), ("false", "true"), ("std::min(", "std::max("), ("std::max(", "std::min("), ("(!", "("),
           ("continue;", ";"), ("break;", ";")]
# The tests of a folder, the nearest first: regular expressions of ctest's names.
TESTS = [
    ("kernels/transform", "unit.transform.*|strategies.transform|strategies.winograd|unit.backend.fft",
     "unit.lab.explain.*|strategies.all.*|strategies.*"),
    ("kernels/coarse", "unit.coarse.*|strategies.coarse", "strategies.all.*|cli.results"),
    ("kernels/tensor", "strategies.tensor.*", "strategies.all.*|strategies.*"),
    ("kernels/separable", "strategies.separable.*", "strategies.all.*|strategies.*"),
    ("kernels/cpu", "unit.cpu.*|strategies.cpu", "strategies.all.*|strategies.*|unit.filter.*|cli.results"),
    ("kernels/contract", "unit.contract.*", "strategies.all.*|strategies.*"),
    ("kernels", "unit.(textbook|backend).*|strategies.(direct|geometry|refusals|resident|modes)", "strategies.*|unit.(library|auto|lab.explain).*"),
    ("src/picture", "unit.picture.*", "cli.(pictures|commands|folders)|pictures.*|unit.run.*"),
    ("src/mask", "unit.mask.*", "cli.(masks|results|commands)"),
    ("src/recipe", "cli.(results|usage|masks)", "cli.(folders|commands)|library|example_filter"),
    ("src/filter", "unit.filter.*", "cli.(results|folders|commands)|unit.run.*"),
    ("src/run", "unit.run.*", "cli.(folders|safety|commands)|folders.*"),
    ("src/auto", "unit.auto.*", "cli.(tune|commands|devices)|unit.lab.*"),
    ("src/base", "unit.base.*", "unit.lab.compare.*|cli.(usage|safety|list|explain)|unit.picture.*"),
    ("src/library", "unit.library.*", "library"),
    ("src/lab/try", "unit.lab.try.*", "cli.try"),
    ("src/lab", "unit.lab.*", "cli.(compare|explain|tune)"),
    ("app/lab", "cli.(compare|explain|tune)", "cli.(try|usage|commands)"),
    ("app", "cli.(commands|list|masks|devices)", "cli.(usage|folders|safety|results|pictures|compare)|completion|documents|example_filter"),
]


def make(count, seed, folders):
    chance, places = random.Random(seed), []
    for folder in folders:
        for path, _, names in os.walk(folder):
            for name in names:
                if not name.endswith((".cpp", ".hpp", ".cu", ".cuh")) or "/cuda" in path or "/runtime" in path:
                    continue
                with open(os.path.join(path, name), encoding="utf-8") as source:
                    for number, line in enumerate(source, 1):
                        code = line.split("//")[0].rstrip("\n")
                        if re.match(r"\s*(#|/?\*|static_assert|template|using|throw)", code) or '"' in code:
                            continue
                        for old, new in CHANGES:
                            if code.count(old) == 1:
                                places.append((os.path.join(path, name), number, code, code.replace(old, new)))
    for place in sorted(chance.sample(sorted(places), count)):
        print(*place, sep="\t")


def passes(build, tests, size):
    done = subprocess.run(["ctest", "--test-dir", build, "-R", f"^({tests})$", "--stop-on-failure", "--timeout", "300"],
                          env=dict(os.environ, CONVFILT_TEST_SIZE=size), capture_output=True, text=True, check=False)
    failed = re.findall(r"- (\S+) \((?:Failed|Timeout|SEGFAULT|Subprocess|Child|ILLEGAL|NUMERICAL)", done.stdout)
    return (done.returncode == 0, ", ".join(failed) or "ctest")


def judge(build, path, sizes):
    first, more = next(tests for folder, *tests in TESTS if path.startswith(folder))
    for size in sizes:
        for tests in (first, more):
            good, by = passes(build, tests, size)
            if not good:
                return f"killed by {by}" + (" in the full run alone" if size == "full" else "")
    return "SURVIVES"


def run(build, names, sizes=("short", "full")):
    with open(names, encoding="utf-8") as listed:
        mutants = [line.rstrip("\n").split("\t") for line in listed if line.strip()]
    for path, number, old, new in mutants:
        with open(path, encoding="utf-8") as source:
            lines = source.read().split("\n")
        if old not in lines[int(number) - 1]:
            sys.exit(f"{path}:{number} is not '{old}'")
        lines[int(number) - 1] = lines[int(number) - 1].replace(old, new)
        subprocess.run(["git", "diff", "--quiet", "--", path], check=True)
        with open(path, "w", encoding="utf-8") as changed:
            changed.write("\n".join(lines))
        try:
            built = subprocess.run(os.environ.get("BUILD", f"cmake --build {build} -j 2"), shell=True, capture_output=True, check=False)
            verdict = judge(build, path, sizes) if built.returncode == 0 else "does not compile"
        finally:
            subprocess.run(["git", "checkout", "-q", "--", path], check=True)
        print(f"{path}:{number}: {verdict}\n  -{old.strip()}\n  +{new.strip()}", flush=True)


if __name__ == "__main__":
    os.chdir(REPOSITORY)
    if len(sys.argv) > 4 and sys.argv[1] == "make":
        make(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
    elif len(sys.argv) in (4, 5) and sys.argv[1] == "run":
        run(sys.argv[2], sys.argv[3], *[[size] for size in sys.argv[4:]])
    else:
        sys.exit(__doc__)
