# Reads lines "target; masks; figure; bound; point", with the point as tests/bench/points.awk writes it. Writes a table
# to standard output, with the worst point of each target on a line, and a table with a line a point to the file
# `points`. `peers` is peers.csv of tests/bench/peers/gpu.sh; `title` stands above both.
function shown(x) { return x < 10 ? sprintf("%.2f", x) : x < 100 ? sprintf("%.1f", x) : sprintf("%.0f", x) }
function of_figure(text) {
  return text (figure == "roof" ? " % of peak" : figure == "fft" ? " of cuFFT" : figure == "npp" ? " of NPP" : "")
}
function plural(n, word) { return n " " word (n == 1 ? "" : "s") }

BEGIN {
  FS = ";"
  while ((getline line < peers) > 0) {
    split(line, of, ",")
    if (of[1] == "NPP FilterBorder") npp["any", of[2], of[3], of[4]] = of[5]
    if (of[1] == "NPP FilterGaussBorder") npp["rank1", of[2], of[3], of[4]] = of[5]
  }
  print title "\n\n| problem | target | measured, the worst point | where | reached |\n|---|---:|---:|---|---|"
  print title "\n\n| depth | channels | mask | `auto` takes | copies | target | measured | reached |" >points
  print "|---|---:|---|---|---:|---:|---:|---|" >points
}
{
  problem = $1; masks = $2; figure = $3; bound = $4
  split($5, p, " ")
  depth = p[3]; channels = p[4]; mask = p[6] "×" p[7]; taken = p[8]; copies = p[9]; roof = p[11]; fft = p[14]
  target = of_figure((figure == "roof" ? "≥ " : "≤ ") bound)

  value = ""  # where it is not known
  if (copies ~ /^[0-9]/) {
    if (figure == "copies") value = copies
    if (figure == "roof") value = 100 * roof
    if (figure == "fft" && fft ~ /^[0-9]/) value = copies / fft
    if (figure == "npp" && (masks, depth, channels, p[6]) in npp) value = copies / npp[masks, depth, channels, p[6]]
  }
  # The target is missed where this is above 1.
  miss = value == "" ? 1e300 : figure == "roof" ? bound / (value + 1e-9) : value / bound
  measured = value == "" ? "not measured" : of_figure(shown(value))
  print "| " depth " | " channels " | " masks " " mask " | " taken " | " (copies ~ /^[0-9]/ ? shown(copies) : copies) " | " \
    target " | " measured " | " (miss <= 1 ? "yes" : "no") " |" >points
  if (!(problem in worst)) order[++count] = problem
  if (problem in worst && miss <= worst[problem]) next
  worst[problem] = miss
  row[problem] = "| " problem " | " target " | " measured " | " depth ", " plural(channels, "channel") ", " mask ", " taken \
    " | " (miss <= 1 ? "yes" : "no") " |"
}
END { for (k = 1; k <= count; ++k) print row[order[k]] }
