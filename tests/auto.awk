# Of the points that tests/points.awk writes: the worst, and those where what auto takes is slower than `most` times the
# fastest strategy. Fails where there is one, or none at all.
function where() { return $1 "x" $2 "x" $4 " " $3 ", mask " $5 " " $6 "x" $7 }
function told(ratio) {
  return sprintf("%s: auto takes %s, %.1f copies, %s the best, %s, %.1f copies", where(), $8, $9, ratio, $12, $13)
}
$9 == "failed" || $9 == "-" { print "FAILED  " where() ": " ($9 == "-" ? "no row of what auto takes" : $8 " gave no figure"); ++bad; next }
{ ratio = sprintf("%.3f times", $10) }
$10 > worst { worst = $10; at = told(ratio) }
$10 > most { print "FAILED  " told(ratio); ++bad }
END {
  if (NR == 0) { print "FAILED  nothing was timed"; exit 1 }
  print "worst of " NR " points: " at
  exit bad > 0
}
