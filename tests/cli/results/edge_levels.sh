# Edges of photographs are bright enough to see, and few are cut off at 255: of each method, at most 3 % of the samples, with a
# mean of 6 or more. Those of canny are white, and are not counted.
for photograph in samples/{astronaut.png,camera.png,chelsea.png,coffee.png,rocket.jpg}; do
  for method in sobel scharr prewitt roberts farid freichen kirsch robinson laplacian log dog canny; do
    convfilt edge $photograph out.pgm --method $method --quiet
    tail -n +4 out.pgm | od -An -v -tu1 | awk -v method=$method '
      { for (i = 1; i <= NF; ++i) { ++n; sum += $i; most += $i == 255 } }
      END { if (sum < 6 * n || (method != "canny" && most > 0.03 * n)) { print sum / n, most / n; exit 1 } }' >said ||
      fail "$method of $photograph: mean and share at 255 are $(cat said)"
  done
done
