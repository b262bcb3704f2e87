# shellcheck shell=bash
# Scripts that start runs over a folder again source this, to learn whether a result is written twice.
# The journals cannot tell: merge joins them to one line a name, and a run that begins anew empties its own.

# Prints a line for each result below OUT: its file's number, when it was written, and its name. A result that is written
# again has another number or another time.
results_in() {  # OUT
  [ ! -d "$1" ] || find "$1" -type f ! -name '.*' -printf '%i %T@ %P\n' | sort
}

# Adds what is below OUT to the file SEEN, again and again until it is killed.
watch_results() {  # OUT SEEN
  while :; do
    results_in "$1" >>"$2" 2>/dev/null || true
    sleep 0.02
  done
}

# Prints the names of the results that were written more than once, by what watch_results has seen and what is there now.
written_twice() {  # OUT SEEN
  results_in "$1" >>"$2"
  sort -u "$2" | cut -d ' ' -f 3- | sort | uniq -d
}
