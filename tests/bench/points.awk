# Makes of compare's CSV a line for each problem that was timed on a GPU, with blanks between the fields:
#
#   width height depth channels mask mask-width mask-height
#   auto's-strategy auto's-copies auto-over-best roofline-share best-strategy best's-copies fft's-copies
#   auto-over-best-of-its-family best-of-its-family its-copies
#
# A figure that is not there is "-"; "failed" stands where what auto takes gave none.
#
#   convfilt compare --from sweep.json --csv | awk -f tests/bench/points.awk [-v device=cpu]
BEGIN { FS = ","; if (device == "") device = "cuda" }
NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
# Only the refusal has commas in it, and its row has no figures, so it does not matter that later fields shift.
index($at["device"], device) != 1 || $at["refused"] == "true" { next }
{
  problem = $at["width_px"] " " $at["height_px"] " " $at["depth"] " " $at["channels"] " " $at["mask"] " " \
    $at["mask_width"] " " $at["mask_height"]
  if (!(problem in seen)) { seen[problem] = 1; order[++problems] = problem }
  failed = $at["refusal"] != ""
  if ($at["by_auto"] == "true") {
    family[problem] = $at["family"]
    autos[problem] = $at["time_in_copies"]
    taken[problem] = $at["strategy"] " " \
      (failed ? "failed - -" : $at["time_in_copies"] " " $at["time_over_best"] " " $at["roofline_share"])
  }
  if (failed) next
  if ($at["time_over_best"] + 0 == 1) best[problem] = $at["strategy"] " " $at["time_in_copies"]
  if ($at["strategy"] == "fft") fft[problem] = $at["time_in_copies"]
  of = problem SUBSEP $at["family"]
  if (!(of in least) || $at["time_in_copies"] + 0 < least[of] + 0) {
    least[of] = $at["time_in_copies"]
    first[of] = $at["strategy"]
  }
}
END {
  for (k = 1; k <= problems; ++k) {
    p = order[k]
    of = p SUBSEP family[p]
    in_family = (of in least) && least[of] > 0 ? autos[p] / least[of] " " first[of] " " least[of] : "- - -"
    print p, p in taken ? taken[p] : "- - - -", p in best ? best[p] : "- -", p in fft ? fft[p] : "-", in_family
  }
}
