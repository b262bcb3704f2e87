#!/usr/bin/env python3
"""Filters a folder on a Ray cluster whose nodes see it: one task per part, started again if its worker dies.

    ray_folder.py IN OUT PARTS [OPTION OF convfilt blur...]

It joins the cluster that RAY_ADDRESS names, or starts one on this machine. CONVFILT names the program on the nodes.
A restarted task continues where it stopped, by its journal in OUT. A failed part stops none of the others. At the end
merge reports what has failed or is missing, and the exit code is then 1.

IN and OUT may also be URLs of an object store that fsspec knows, such as s3://bucket/photos (pip install s3fs). A task
then fetches, filters and puts up to 256 pictures, and records them in OUT/.convfilt-done/. Started again, the script
does the pictures that have no record with the same options, and those that have changed since, as have their results.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile

# A machine without Ray can say what this is, too.
if __name__ == "__main__" and (len(sys.argv) < 4 or sys.argv[1] in ("-h", "--help")):
    asked = sys.argv[1:2] in (["-h"], ["--help"])
    print(__doc__.strip(), file=sys.stdout if asked else sys.stderr)
    sys.exit(0 if asked else 2)

import ray  # noqa: E402


def run(program, source, target, *options):
    """Runs convfilt in a task. If it is killed, so is the task, and Ray starts that again."""
    done = subprocess.run([program, "blur", source, target, *options], capture_output=True, text=True, errors="replace")
    if done.returncode < 0:
        os.kill(os.getpid(), -done.returncode)
    return done


@ray.remote(num_cpus=1, max_retries=5)
def blur(source, target, part, parts, options, program):
    """Filters one part, and returns its exit code and messages."""
    done = run(program, source, target, "--recursive", f"--shard={part}/{parts}", "--resume", "--threads=1", *options)
    return done.returncode, done.stderr


def filter_folder(source, target, parts, options, program):
    source, target = os.path.abspath(source), os.path.abspath(target)
    tasks = [blur.remote(source, target, part, parts, options, program) for part in range(1, parts + 1)]
    failed = False
    for part, task in enumerate(tasks, 1):
        # Where a part is lost for good, the others and merge have something to say all the same.
        try:
            code, said = ray.get(task)
        except ray.exceptions.RayError as lost:
            code, said = 1, str(lost)
        print(f"part {part}/{parts}: {said.strip()}", flush=True)
        failed |= code != 0
    return failed | (subprocess.run([program, "merge", target]).returncode != 0)


def store(url):
    import fsspec

    files, root = fsspec.url_to_fs(url)
    return files, root.rstrip("/") + "/"


def stamp(info):
    """Changes when the object does."""
    return str(info.get("ETag") or [info.get(key) for key in ("size", "mtime", "LastModified")])


def recipe(options, program):
    """The hash of options and version that a journal has. Ends the script where convfilt refuses the options."""
    with tempfile.TemporaryDirectory() as here:
        os.mkdir(f"{here}/in")
        if subprocess.run([program, "blur", f"{here}/in", f"{here}/out", "--shard=1/2", "--quiet", *options]).returncode:
            sys.exit(2)
        with open(f"{here}/out/.convfilt-journal.1-of-2") as journal:
            return journal.readline().split()[3].split("%20")[0]


@ray.remote(num_cpus=1, max_retries=5)
def blur_objects(source, target, records, pictures, options, program):
    """Filters {name: (stamp, name of the result)}, and returns why pictures have failed, by name."""
    (origin, inputs), (goal, results) = store(source), store(target)
    done, failed, local = [], {}, {}
    with tempfile.TemporaryDirectory() as here:
        os.mkdir(f"{here}/in")
        for number, name in enumerate(pictures):
            path = f"{here}/in/{number}{os.path.splitext(name)[1]}"
            try:
                origin.get_file(inputs + name, path)
                local[path] = name
            except Exception as error:  # each store has its own
                failed[name] = f"cannot be fetched: {error!r}"
        ran = run(program, f"{here}/in", f"{here}/out", "--json", "--quiet", "--threads=1", *options)
        said = {line["input"]: line for line in map(json.loads, ran.stdout.splitlines())}
        for path, name in local.items():
            (seen, result), line = pictures[name], said.get(path)
            if line and line["status"] == "done":
                try:
                    goal.put_file(line["output"], results + result)  # stores show it whole or not at all
                    done.append((name, seen, stamp(goal.info(results + result))))
                except Exception as error:
                    failed[name] = f"cannot be put: {error!r}"
            elif line and line["status"] == "failed":
                failed[name] = line["reason"].replace(path, name)
            elif said or "there are no pictures" in ran.stderr:
                done.append((name, seen, None))  # no picture by its name, as in a folder
            else:
                failed[name] = ran.stderr.strip()
    record = hashlib.sha256(json.dumps(pictures).encode()).hexdigest()
    goal.pipe_file(f"{records}{record}.json", json.dumps(done).encode())
    return failed


def filter_objects(source, target, parts, options, program):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--format")
    parser.add_argument("--name")
    own = parser.parse_known_args(options)[0]
    (origin, inputs), (goal, results) = store(source), store(target)
    records = f"{results}.convfilt-done/{recipe(options, program)}/"
    found = {path[len(inputs) :]: stamp(info) for path, info in origin.find(inputs, detail=True).items()}
    there = {path[len(results) :]: stamp(info) for path, info in goal.find(results, detail=True).items()}
    if results.startswith(inputs):  # results are no inputs
        found = {name: seen for name, seen in found.items() if not (inputs + name).startswith(results)}
    result = {name: os.path.splitext(name)[0] + "." + own.format.strip(".") if own.format else name for name in found}
    if own.name or inputs == results or len(set(result.values())) < len(result):
        sys.exit("a result would replace its input or another one; name another OUT, and leave out --name or --format")
    paths = goal.find(records)
    recorded = {tuple(each) for data in (goal.cat(paths) if paths else {}).values() for each in json.loads(data)}
    todo = [name for name in found if (name, found[name], there.get(result[name])) not in recorded]
    size = max(1, min(256, -(-len(todo) // parts)))
    batches = [{name: (found[name], result[name]) for name in todo[i : i + size]} for i in range(0, len(todo), size)]
    failed = {}
    tasks = [blur_objects.remote(source, target, records, batch, options, program) for batch in batches]
    for batch, task in zip(batches, tasks):
        try:
            failed.update(ray.get(task))
        except ray.exceptions.RayError as lost:
            failed.update(dict.fromkeys(batch, f"its task was lost: {lost}"))
    for name, why in sorted(failed.items()):
        print(f"failed: {name}: {why}")
    print(f"{len(found)} objects, {len(found) - len(todo)} of them done before, {len(failed)} failed")
    return bool(failed)


if __name__ == "__main__":
    ray.init()
    way = filter_objects if "://" in sys.argv[1] + sys.argv[2] else filter_folder
    sys.exit(1 if way(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:], os.environ.get("CONVFILT", "convfilt")) else 0)
