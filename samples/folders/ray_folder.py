#!/usr/bin/env python3
"""A folder on a Ray cluster whose nodes see it: a task a part, started again where a worker dies.

    ray_folder.py IN OUT PARTS [OPTION OF convfilt blur...]

It joins the cluster that RAY_ADDRESS names, or starts one on this machine. CONVFILT names the program on the nodes.
A task that is started again goes on where it was, by its journal in OUT.
"""

import os
import subprocess
import sys

if {"-h", "--help"} & set(sys.argv[1:]):  # also where Ray is not installed
    sys.exit(print(__doc__.strip()))

import ray


@ray.remote(num_cpus=1, max_retries=5)
def blur(source, target, part, parts, options, program):
    """Filters one part; raises where pictures failed, but not for a part that was killed, which Ray starts again."""
    command = [program, "blur", source, target, "--recursive", f"--shard={part}/{parts}", "--resume", "--threads=1", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode < 0:
        os.kill(os.getpid(), -done.returncode)
    return done.returncode, done.stderr


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    source, target, parts, options = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    program = os.environ.get("CONVFILT", "convfilt")
    ray.init()
    tasks = [blur.remote(source, target, part, parts, options, program) for part in range(1, parts + 1)]
    failed = 0
    for part, (code, said) in enumerate(ray.get(tasks), 1):
        print(f"part {part}/{parts}: {said.strip()}")
        failed += code != 0
    failed += subprocess.run([program, "merge", target]).returncode
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
