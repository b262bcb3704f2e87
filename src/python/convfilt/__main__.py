"""python -m convfilt: the command line."""

from ._program import main

main()
