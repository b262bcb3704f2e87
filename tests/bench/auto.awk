# Judges the points that tests/bench/points.awk writes. Prints those where what auto takes needs more than `most` times
# the time of the fastest strategy of its family, and the worst point. Prints also how auto stands against all families,
# of which the problem alone chooses one. Fails where a point is too slow in its family, or there is none at all.
function where() { return $1 "x" $2 "x" $4 " " $3 ", mask " $5 " " $6 "x" $7 }
function told(ratio, best, copies) {
  return sprintf("%s: auto takes %s, %.1f copies, %.3f times the best, %s, %.1f copies", where(), $8, $9, ratio, best, copies)
}
$9 == "failed" || $9 == "-" || $15 == "-" {
  print "FAILED  " where() ": " ($9 == "-" ? "no row of what auto takes" : $8 " gave no figure"); ++bad; next
}
$15 > worst { worst = $15; at = told($15, $16, $17) }
$15 > most { print "FAILED  " told($15, $16, $17); ++bad }
$10 > furthest { furthest = $10; across = told($10, $12, $13) }
$10 > most && $15 <= most { print "slower than another family  " told($10, $12, $13); ++slower }
END {
  if (NR == 0) { print "FAILED  nothing was timed"; exit 1 }
  print "worst of " NR " points: " at
  print "of all families, " slower + 0 " of " NR " points slower: " across
  exit bad > 0
}
