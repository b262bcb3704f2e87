# A name takes little memory, in the list, in a run, where nothing is left to do, and in the merge. Here the names of a picture and
# of its result have 180 letters together. The results are there, so that no time goes to the disk.
need_peak
names=40000  # so many that noise of a busy machine is few bytes a name
folder=$(printf 'long%.0s' {1..15})
for root in one photos; do
  mkdir -p $root/"$folder" $root.out/"$folder"
  printf 'P5\n2 2\n255\nabcd' >$root/"$folder"/0.pgm
  printf 'P5\n2 2\n255\nefgh' >$root.out/"$folder"/0.pgm
done
perl -e '
  my ($folder, $names) = @ARGV;
  for my $i (1 .. $names) {
    link "$_/$folder/0.pgm", sprintf "%s/%s/picture_%06d.pgm", $_, $folder, $i or die for "photos", "photos.out";
  }' "$folder" $names
try_step() {  # BYTES COMMAND...: at most so many for each name
  local most=$1 in took
  shift
  for in in one photos; do peak_of $in.peak "$CONVFILT" "${@//IN/$in}" -q >said; done
  took=$((($(cat photos.peak) - $(cat one.peak)) * 1048576 / names))
  [ $took -le "$most" ] || fail "$*: $took bytes a name; $most were expected"
}
try_step 220 blur IN IN.out -r --dry-run
try_step 520 blur IN IN.out -r --if-exists skip
try_step 520 blur IN IN.out -r --if-exists skip --resume
try_step 460 merge IN.out
rm -r one one.* photos photos.* said
