"""Where the command line of the package convfilt is, and a start of it that needs neither the module nor numpy."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn


def program() -> str:
    """The path of the command line: the package's own, else CONVFILT or the one on PATH. Raises OSError where there is none."""
    own = Path(__file__).with_name("convfilt") / "bin" / "convfilt"
    found = str(own) if own.exists() else os.environ.get("CONVFILT") or shutil.which("convfilt")
    if not found:
        raise OSError("the program convfilt was not found; put it on PATH, or set CONVFILT to its path")
    return found


def main() -> NoReturn:
    try:
        path = program()
        os.execv(path, [path, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"convfilt: {error}")
