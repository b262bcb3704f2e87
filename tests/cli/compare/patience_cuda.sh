# On a GPU the picture is whole, and there is one run where that alone takes longer than patience lasts.
need_cuda
runs() {  # SECONDS
  convfilt compare --size 2048x2048 --mask 63x63 --strategies basic --device cuda --repeats 5 --patience "$1" --json >json
  grep -q '"measured_width_px": 2048' json || fail "a piece on the GPU"
  sed -n 's/.*"runs": *\([0-9]*\).*/\1/p' json
}
[ "$(runs 0.001)" = 1 ] || fail "more than one run with little patience"
[ "$(runs 10)" = 5 ] || fail "fewer runs than asked for"
