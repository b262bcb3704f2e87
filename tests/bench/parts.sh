# shellcheck shell=bash Scripts that can measure in parts, where a machine is lent for minutes, source this.

# Prints the numbers of 1..COUNT that RANGE means, which are all where it is empty. VARIABLE is the name of the variable
# that RANGE comes from.
numbers_of() {  # VARIABLE RANGE COUNT
  local range=${2:-1-$3}
  if [[ $range =~ ^([1-9][0-9]*)(-([1-9][0-9]*))?$ ]]; then
    local first=${BASH_REMATCH[1]} last=${BASH_REMATCH[3]:-${BASH_REMATCH[1]}}
    if [ "$first" -le "$last" ] && [ "$last" -le "$3" ]; then seq "$first" "$last"; return; fi
  fi
  echo "$1 is $range; say a number of 1 to $3, or two as in 1-$3" >&2
  return 1
}

# Puts the paths of these files into the array `from`. The files must be there.
take_parts() {  # FILE...
  local file
  [ $# -gt 0 ] || { echo "--from: name the parts' files" >&2; exit 1; }
  for file; do
    [ -f "$file" ] || { echo "$file is missing" >&2; exit 1; }
    from+=("$(realpath "$file")")
  done
}
