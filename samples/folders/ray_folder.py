#!/usr/bin/env python3
"""Filters a folder on a Ray cluster whose nodes see it: one task per part, started again if its worker dies.

    ray_folder.py IN OUT PARTS [OPTION OF convfilt blur...]

It joins the cluster that RAY_ADDRESS names, or starts one on this machine. CONVFILT names the program on the nodes.
A restarted task continues where it stopped, by its journal in OUT. A failed part stops none of the others. At the end
merge reports what has failed or is missing, and the exit code is then 1.
"""

import os
import subprocess
import sys

# A machine without Ray can say what this is, too.
if __name__ == "__main__" and (len(sys.argv) < 4 or sys.argv[1] in ("-h", "--help")):
    asked = sys.argv[1:2] in (["-h"], ["--help"])
    print(__doc__.strip(), file=sys.stdout if asked else sys.stderr)
    sys.exit(0 if asked else 2)

import ray  # noqa: E402


@ray.remote(num_cpus=1, max_retries=5)
def blur(source, target, part, parts, options, program):
    """Filters one part and returns its exit code and messages. Where it was killed, Ray starts it again."""
    command = [program, "blur", source, target, "--recursive", f"--shard={part}/{parts}", "--resume", "--threads=1", *options]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    # Ray starts a task again where its worker dies.
    if done.returncode < 0:
        os.kill(os.getpid(), -done.returncode)
    return done.returncode, done.stderr


def main():
    source, target, parts, options = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    program = os.environ.get("CONVFILT", "convfilt")
    ray.init()
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
    failed |= subprocess.run([program, "merge", target]).returncode != 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
