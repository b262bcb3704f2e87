# shellcheck shell=bash
# For scripts that can measure in parts, where a machine is lent for minutes. Sourced.

# The numbers that RANGE means, of 1..COUNT: all where it is empty. VARIABLE is whose value it is.
numbers_of() {  # VARIABLE RANGE COUNT
  local range=${2:-1-$3}
  if [[ $range =~ ^([1-9][0-9]*)(-([1-9][0-9]*))?$ ]]; then
    local first=${BASH_REMATCH[1]} last=${BASH_REMATCH[3]:-${BASH_REMATCH[1]}}
    if [ "$first" -le "$last" ] && [ "$last" -le "$3" ]; then seq "$first" "$last"; return; fi
  fi
  echo "$1 is $range; say a number of 1 to $3, or two as in 1-$3" >&2
  return 1
}

# Puts into the array `from` where those files are, which must be there.
take_parts() {  # FILE...
  local file
  [ $# -gt 0 ] || { echo "--from: name the parts' files" >&2; exit 1; }
  for file; do
    [ -f "$file" ] || { echo "$file is missing" >&2; exit 1; }
    from+=("$(realpath "$file")")
  done
}
