# tune writes a profile of the CPU to the user's cache, or where --output says; then -v names it.
export XDG_CACHE_HOME=$PWD/cache
shipped=$CONVFILT_PROFILES
unset CONVFILT_PROFILES
convfilt tune --device cpu --quick >summary 2>said
grep -q '^CPU: ' summary || fail "$(cat summary)"
grep -q '(before: ' summary || fail "$(cat summary)"
grep -q '^GPU: none was measured$' summary || fail "$(cat summary)"
[ "$(ls cache/convfilt/profiles | wc -l)" = 1 ] || fail "$(ls cache/convfilt/profiles)"
grep -q 'wrote the profile of .* to .*/cache/convfilt/profiles/.*\.json$' said || fail "$(cat said)"
mine=$(echo cache/convfilt/profiles/*.json)
convfilt tune --device cpu --quick --output=- >out.json
grep -q '"format": "convfilt profile 1"' out.json || fail "$(cat out.json)"
convfilt tune --device cpu --quick --output my.json -q >/dev/null 2>said
[ ! -s said ] || fail "$(cat said)"
grep -q '"version": "[0-9.]*"' my.json || fail "$(cat my.json)"
# Where CONVFILT_PROFILES names a folder, a profile elsewhere is not read, and that is said.
mkdir named
cp my.json named/one.json
touch -d '2 hours ago' "$mine"
export CONVFILT_PROFILES=$PWD/named
convfilt tune --device cpu --quick >summary 2>said
grep -q "warning: CONVFILT_PROFILES names .*/named, so .*/cache/.*\.json is not read; unset it, or add --output .*/named/FILE\.json$" said ||
  fail "$(cat said)"
convfilt tune --device cpu --quick --output named/one.json >summary 2>said
! grep -q 'not read' said || fail "$(cat said)"
unset CONVFILT_PROFILES
# Beside the new figures stand those of the profile that spoke until then: of this CPU, or else the user's first, before a
# shipped one; and where a folder is named, only what it holds.
before() {  # CACHE: what stands beside the first figure
  XDG_CACHE_HOME=$PWD/$1 convfilt tune --device cpu --quick --output tuned.json -q |
    sed -n 's/^ *sample, u8 .*(before: \(.*\))$/\1/p'
}
mkdir -p other/convfilt/profiles both/convfilt/profiles empty
sed 's/\("sample_u8_s":\)[^,]*/\1 0.25/; s/"cpu": {"name":"[^"]*"/"cpu": {"name":"another CPU"/' my.json >other.json
cp other.json other/convfilt/profiles
cp other.json both/convfilt/profiles
sed 's/\("sample_u8_s":\)[^,]*/\1 0.5/' my.json >both/convfilt/profiles/mine.json
touch -d '2 hours ago' both/convfilt/profiles/mine.json
was=$(before both); [ "$was" = 5e+08 ] || fail "this CPU's profile, but before: $was"
was=$(CONVFILT_PROFILES=$PWD/empty before both); [ -z "$was" ] || fail "an empty folder is named, but before: $was"
name=$(sed -n 's/.*"cpu": {"name":"\([^"]*\)".*/\1/p' my.json)
if ! grep -sqF "\"name\":\"$name\"" "$shipped"/*.json; then
  was=$(before other); [ "$was" = 2.5e+08 ] || fail "the user's profile, but before: $was"
fi
# Whatever it says, the bytes are the same; a profile that is broken is named, and left out.
convfilt apply gaussian5 samples/camera.png before.pgm
sed 's/\("sample_u8_s":\)[^,]*/\1 1000/' my.json >"$mine"
convfilt apply gaussian5 samples/camera.png after.pgm
same before.pgm after.pgm
echo '{' >"$mine"
try apply gaussian5 samples/camera.png after.pgm -v
same before.pgm after.pgm
