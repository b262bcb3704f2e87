# Little patience takes smaller pieces, and more patience larger ones. JSON says how large a piece is.
pixels() {  # SECONDS
  convfilt compare --size 1500x1200 --mask 31x31 --strategies basic --device emulator --threads 1 --patience "$1" --json |
    sed -n 's/.*"measured_width_px": *\([0-9]*\).*/\1/p'
}
[ "$(pixels 0.01)" -lt "$(pixels 1)" ] || fail "no smaller piece"
