# Options by the environment and by a file: a flag wins over a variable, a variable over the file, the file over what is
# built in. A row of the picture says which border was taken: each sums a sample and its left neighbour.
pgm in.pgm <<<"10 20 30"
echo "1 1 0" >left.txt
border() {  # WANTED COMMAND...: wanted is the first sample, 20 by replicate, 30 by reflect101, 40 by wrap, 10 by constant
  local wanted=$1; shift
  "$@" apply left.txt in.pgm out.pgm || fail "$* fails"
  [ "$(show out.pgm | sed -n 's/ .*//;2p')" = "$wanted" ] || fail "$*: not $wanted but $(show out.pgm | tail -n 1)"
}
config() { printf '%s\n' "$@" >config/convfilt/config.toml; }
unset XDG_CONFIG_HOME HOME
border 20 convfilt
mkdir -p config/convfilt home/.config/convfilt
export XDG_CONFIG_HOME=$PWD/config
border 20 convfilt
config '# a comment' '' '  border = "reflect101"   # another'
border 30 convfilt
border 40 env CONVFILT_BORDER=wrap "$CONVFILT"
border 30 env CONVFILT_BORDER= "$CONVFILT"
flag() { convfilt apply --border=constant "${@:2}"; }
border 10 flag
CONVFILT_BORDER=wrap border 10 flag
# Another file instead of one's own; none by an empty one.
echo "border = 'wrap'" >other.toml
other() { convfilt apply --config other.toml "${@:2}"; }
border 40 other
CONVFILT_BORDER=reflect101 border 30 other
none() { convfilt apply --config /dev/null "${@:2}"; }
border 20 none
# Without XDG_CONFIG_HOME it is ~/.config; a relative one counts for nothing.
cp config/convfilt/config.toml home/.config/convfilt
XDG_CONFIG_HOME='' HOME=$PWD/home border 30 convfilt
XDG_CONFIG_HOME=config border 20 convfilt
# A section is for one command, and wins there, wherever it stands.
config '[apply]' 'border = wrap' '[blur]' 'border = reflect'
border 40 convfilt
config 'border = reflect101' '[apply]' "border=wrap" '[ compare ]' 'border = constant'
border 40 convfilt
config 'border = reflect101' '[blur]' 'border = wrap'
border 30 convfilt
# Windows' ends of lines, a byte order mark, and no newline at the end.
printf '\357\273\277border = wrap\r\n[blur]\r\nsigma = 3' >config/convfilt/config.toml
border 40 convfilt
# What other commands have is no error, and commands without such options read no file at all.
config 'amount = 2' 'method = scharr' 'repeats = 3' 'mask = 3x3'
border 20 convfilt
# Nor is a file written by a line that means another command's option of that name.
config 'json = true' 'output = abs'
convfilt compare --size 8x8 --mask 3x3 --strategies cpu --repeats 3 --table full | grep -o '^noise: .*'
convfilt mask show left.txt >shown
convfilt mask check left.txt >shown
rm shown
only . config home in.pgm left.txt other.toml out.pgm
config nonsense
convfilt list masks >list
convfilt generate man >page
convfilt blur --help >help
convfilt --help >general
for place in CONVFILT_BORDER CONVFILT_DEVICE CONVFILT_STRATEGY CONVFILT_THREADS convfilt/config.toml; do
  grep -qF "$place" help || fail "blur --help does not name $place"
  grep -qF "$place" page || fail "the manual does not name $place"
done
for place in CONVFILT_FILTERS CONVFILT_PROFILES config.toml XDG_CONFIG_HOME; do
  grep -qF "$place" page || fail "the manual does not name $place"
  [ "$place" = XDG_CONFIG_HOME ] || grep -qF "$place" general || fail "convfilt --help does not name $place"
done
# Every variable acts: a value that is wrong is refused by its name.
for name in $(grep -o 'CONVFILT_[A-Z_]*' help | sort -u); do
  env XDG_CONFIG_HOME= "$name=@" "$CONVFILT" blur in.pgm out.pgm 2>said && fail "$name=@ is taken"
  grep -q "^convfilt: $name: " said || fail "$name=@: $(cat said)"
done
# Flags, options that may come several times, and what compare and mask read.
config 'verbose = true'
convfilt apply left.txt in.pgm out.pgm 2>&1 | grep -c '^convfilt: wrote'
config 'verbose = false'
convfilt apply left.txt in.pgm out.pgm
config 'verbose = true'
convfilt apply left.txt in.pgm out.pgm -q
config '[compare]' 'mask = 3x3' 'mask = 5x1' 'strategies = "cpu"' 'size = 8x8' 'depth = f32' 'repeats = 3'
convfilt compare --table full | grep -o '^noise: .*'
convfilt compare --mask 1x3 --table full | grep -o '^noise: .*'
convfilt compare in.pgm --mask 1x3 --table full | grep -o '^in.pgm: .*'
convfilt compare --json=all.json >table
variables=$(grep -o 'CONVFILT_[A-Z_]*' help | sort -u)
[ "$(wc -l <<<"$variables")" = 7 ] || fail "not seven variables: $variables"
for name in $variables; do
  case $name in
    *_BORDER) value=wrap ;; *_DEVICE | *_STRATEGY) value=cpu ;; *_MAX_PIXELS) value=9 ;; *_ON_DAMAGE) value=warn ;; *_PITCH) value=packed ;; *) value=2 ;;
  esac
  env XDG_CONFIG_HOME= "$name=$value" "$CONVFILT" blur in.pgm out.pgm -q || fail "blur with $name=$value"
  env "$name=$value" "$CONVFILT" compare --from all.json | cmp - table
done
# What is given on the command line silences what would clash with it.
config '[blur]' 'sigma = 3'
convfilt blur in.pgm out.pgm --box 3
config 'border = constant' 'border-value = 7' 'strategy = tiled-in' 'tile = 8'
convfilt blur in.pgm out.pgm --border wrap --strategy cpu
config 'border = wrap'
CONVFILT_BORDER=reflect convfilt blur in.pgm out.pgm --mode full
convfilt blur in.pgm out.pgm --mode=full
said_by() {  # VALUE...: blur takes the strategy and device that stand in these words, whatever else is a default
  convfilt blur in.pgm out.pgm -v "$@" 2>said || fail "blur $*: $(cat said)"
  ! grep -E ' by (CONVFILT_|.*config.toml)' said || fail "blur $* takes a default that clashes with it"
}
: >config/convfilt/config.toml
CONVFILT_DEVICE=cuda said_by --strategy cpu
CONVFILT_DEVICE=emulator said_by --strategy=cpu
CONVFILT_STRATEGY=tiled-in said_by --device cpu
config 'device = "emulator"'
said_by --strategy cpu
config 'strategy = tiled-in'
said_by --device cpu
CONVFILT_DEVICE=cpu convfilt blur in.pgm out.pgm
config 'mode = full'
said_by --border wrap
config '[edge]' 'method = log'
convfilt edge in.pgm out.pgm --direction x
# A strategy that has not the setting is none, as if it had not been there.
config 'strategy = cpu'
convfilt blur in.pgm out.pgm --tile 4 2>said && fail "no strategy has a tile"
CONVFILT_STRATEGY=cpu "$CONVFILT" blur in.pgm out.pgm --config /dev/null --tile 4 2>>said && fail "no strategy has a tile"
cat said
# One that has it stays.
config 'strategy = tiled-in'
convfilt apply left.txt in.pgm out.pgm --device emulator --tile 4 -v 2>&1 | grep -o 'strategy tiled-in on emulator'
# But --border=constant has a use for the file's value, and --strategy for the file's settings of that strategy.
config 'border = wrap' 'border-value = 7' 'tile = 8'
constant() { convfilt apply --border constant "${@:2}"; }
border 17 constant
convfilt apply left.txt in.pgm out.pgm --device emulator --strategy tiled-in -v 2>&1 | grep -o 'tile=8'
convfilt blur in.pgm out.pgm --strategy cpu
# A line that its command has no use for counts for nothing.
config 'border-value = 7' 'tile = 8' 'weights = "8bit"' 'sigma = 1.2' 'direction = x'
border 20 convfilt
convfilt blur in.pgm out.pgm
convfilt edge in.pgm out.pgm
convfilt edge in.pgm out.pgm --method log
convfilt compare --mask 3x3 --strategies cpu --size 8x8 --repeats 3 --table full | grep -o '^noise: .*'
convfilt compare --masks 3 --strategies cpu --size 8x8 --repeats 3 --json=- | grep -o '8bit' | head -n 1
convfilt explain cpu >said 2>&1 || true
! grep -q 'tile' said || fail "explain cpu: $(cat said)"
convfilt explain tiled-in >said
convfilt explain tiled-in --tile 8 --config /dev/null | cmp - said
# Lines of the file also give way to the environment, and lines for all commands to those of a command's section.
config 'border = constant' 'border-value = 7'
CONVFILT_BORDER=wrap border 40 convfilt
config 'border-value = 7' 'border = constant' '[apply]' 'border = wrap'
border 40 convfilt
config 'box = 3' '[blur]' 'sigma = 3'
convfilt blur in.pgm out.pgm
config 'box = 3'  '[blur]' 'sigma = 3' 'box = 5'
convfilt blur in.pgm out.pgm 2>said && fail "a blur by a sigma and a box"
sed "s|$PWD|HERE|g" said
# Quotation marks and backslashes in a value.
config '[compare]' 'strategies = "cpu"' 'size = 8x8' 'mask = "a \"b\" \\.txt"' 'repeats = 3'
echo '1 2 1' >'a "b" \.txt'
convfilt compare --table full | grep -o '^noise: .*'
# A folder that has the file's name is an error; it does not pass for an empty file.
rm config/convfilt/config.toml
mkdir config/convfilt/config.toml
convfilt blur in.pgm out.pgm 2>said && fail "a folder is read"
sed "s|$PWD|HERE|g" said
rmdir config/convfilt/config.toml
# Nobody waits for a pipe to be written to.
mkfifo config/convfilt/config.toml
timeout 20 "$CONVFILT" blur in.pgm out.pgm 2>said && fail "a pipe is read"
sed "s|$PWD|HERE|g" said
rm config/convfilt/config.toml
# -v says what came from outside.
config 'border = wrap' '[apply]' 'flip = true'
CONVFILT_THREADS=1 convfilt apply left.txt in.pgm out.pgm -v 2>&1 | grep ' --' | sed "s|$PWD|HERE|"
