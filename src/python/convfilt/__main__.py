"""python -m convfilt: the command line."""

from convfilt_program import main

main()
