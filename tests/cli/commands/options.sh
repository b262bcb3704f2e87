# Options that change how a picture is computed give the same bytes; options that change what is computed give others.
convfilt blur samples/camera.png expected.pgm
for option in --threads=1 --threads=7 --pitch=packed --pitch=padded --device=cpu --device=auto --strategy=auto --border=replicate \
  --flip --max-pixels=262144 --on-damage=fail --on-damage=warn --quiet --in-place; do
  convfilt blur samples/camera.png out.pgm $option
  cmp expected.pgm out.pgm || fail "$option changes the picture"
done
for border in constant reflect reflect101 wrap; do
  convfilt blur samples/camera.png $border.pgm --border $border
done
convfilt blur samples/camera.png constant-200.pgm --border constant --border-value 200
[ "$(cksum ./*.pgm | cut -d ' ' -f 1 | sort -u | wc -l)" = 6 ] || fail "some borders give the same picture"
