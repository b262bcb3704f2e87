# Makes of peers.csv, which tests/bench/peers/gpu.sh writes, a table a depth and number of channels. It has a line a
# peer, and a column for each mask side in the list `sides`.
function shown(x) {
  return x !~ /^[0-9]/ ? x : x < 10 ? sprintf("%.2f", x) : x < 100 ? sprintf("%.1f", x) : sprintf("%.0f", x)
}
BEGIN { FS = "," }
{
  key = $2 "," $3
  if (!(key in peers)) keys[++count] = key
  if (!((key, $1) in seen)) peers[key] = peers[key] "\n" $1
  seen[key, $1] = 1
  cell[key, $1, $4] = shown($5) ($1 == "convfilt best" ? " " $6 : "")
}
END {
  columns = split(sides, side, " ")
  for (k = 1; k <= count; ++k) {
    split(keys[k], of, ",")
    head = "| " of[1] ", " of[2] (of[2] == 1 ? " channel" : " channels") " |"; rule = "|---|"
    for (i = 1; i <= columns; ++i) { head = head " " side[i] "×" side[i] " |"; rule = rule "---:|" }
    print "\n" head "\n" rule
    lines = split(substr(peers[keys[k]], 2), peer, "\n")
    for (p = 1; p <= lines; ++p) {
      line = "| " peer[p] " |"
      for (i = 1; i <= columns; ++i) line = line " " cell[keys[k], peer[p], side[i]] " |"
      print line
    }
  }
}
