#!/usr/bin/env bash
# Tries convfilt on bare systems that debootstrap makes, as a user would: installs, blurs a photograph, reads the manual
# page, types into bash, fish and zsh, uninstalls, and checks that nothing is left. It needs root and debootstrap, is not
# part of ctest, and removes the systems afterwards.
#
#   packaging/try.sh source [SUITE [MIRROR]]    builds there from the files of HEAD, with samples/quickstart.sh; in the end
#                                               it runs the tests there
#   packaging/try.sh deb [SUITE [MIRROR]]       builds the .deb there, and installs it with apt in another such system
#   packaging/try.sh both [SUITE [MIRROR]]      the two of them
#   packaging/try.sh all                        both, on Debian 12 and 13, with a summary; about an hour on two cores
#
# SUITE is this system's own unless named (bookworm, trixie, noble), MIRROR what apt uses here for it, else debootstrap's
# own. COMPONENTS names the parts of that archive: Ubuntu needs main,universe. PACKAGES names more packages to install there
# before a build, CXX a compiler other than g++. TESTS=full runs the tests with every combination of their cases. Logs:
# build/try.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { echo "== $*"; }
die() { echo "packaging/try.sh: $*" >&2; exit 1; }

# The rest of this script runs it in the new system, in namespaces of its own, where it types and looks.
inside() {
  root=$1 kind=$2
  mount -t proc proc "$root/proc"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  mount --bind "$root/dev/pts/ptmx" "$root/dev/ptmx"
  # fish looks below /usr/local only where XDG_DATA_DIRS names it, as desktops do.
  there() { chroot "$root" env -i HOME=/root TERM=xterm PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin XDG_DATA_DIRS=/usr/local/share:/usr/share LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
  apt() { there apt-get -qq -o Dpkg::Use-Pty=0 "$@" >>"$root/root/apt.log" 2>&1 || { tail -n 20 "$root/root/apt.log" >&2; die "apt-get $* failed"; }; }

  say "system: $(. "$root/etc/os-release"; echo "$PRETTY_NAME"), $(there dpkg-query -W | wc -l) packages"
  [ -z "${PACKAGES:-}" ] || [ "$kind" = deb ] || { apt update; apt install --no-install-recommends $PACKAGES; }  # words
  case $kind in
    tests)
      say "tests/run.sh ${TESTS:-}"
      there ${CXX:+CXX="$CXX"} /root/convfilt/tests/run.sh ${TESTS:+"$TESTS"} || die "tests fail"
      return ;;
    package)
      apt update
      say "samples/setup.sh package && cpack --preset package"
      there ${CXX:+CXX="$CXX"} /root/convfilt/samples/setup.sh package >/dev/null
      there sh -c 'cd /root/convfilt && cpack --preset package' >"$root/root/cpack.log" 2>&1 || { cat "$root/root/cpack.log" >&2; die "cpack failed"; }
      return ;;
  esac
  apt update
  if [ "$kind" = deb ]; then
    local deb; deb=$(cd "$root/root" && echo convfilt_*.deb)
    say "apt-get install ./$deb"
    apt install --no-install-recommends "./root/$deb"
    say "installed with $(($(there dpkg-query -W | wc -l) - 1)) other packages; version $(there dpkg-query -W convfilt)"
    prefix=/usr zsh=vendor-completions
  else
    say "samples/quickstart.sh"
    SECONDS=0
    there ${CXX:+CXX="$CXX"} /root/convfilt/samples/quickstart.sh || die "quickstart.sh failed"
    say "warnings of the compiler: $(grep -c 'warning:' "$root/root/convfilt/build/release/setup.log")"
    say "quickstart.sh took $SECONDS s, with $(there "${CXX:-g++}" --version | head -1), $(there cmake --version | head -1), OpenCV $(there dpkg-query -W -f '${Version}' libopencv-dev)"
    there cmake --install /root/convfilt/build/release >"$root/root/install.log" || die "cmake --install failed"
    prefix=/usr/local zsh=site-functions
  fi

  there convfilt blur /root/rocket.jpg /root/blurred.jpg -v 2>&1
  there convfilt apply emboss3 /root/rocket.jpg /root/relief.png
  say "blurred photograph: $(there stat -c %s /root/rocket.jpg) bytes, then $(there stat -c %s /root/blurred.jpg); by a filter's name: $(there stat -c %s /root/relief.png)"

  if [ "$kind" = deb ]; then
    ! there convfilt apply identity /root/rocket.jpg /root/photo.bmp 2>"$root/root/said" || die "a .bmp needs no module"
    grep -q 'install the package convfilt-opencv' "$root/root/said" || die "no package is named: $(cat "$root/root/said")"
    local modules; modules=$(cd "$root/root" && ls convfilt-*.deb | sed 's/_.*//' | xargs)
    say "apt-get install the modules: $modules"
    apt install --no-install-recommends $(cd "$root/root" && printf './root/%s ' convfilt-*.deb)
    for format in bmp jxl avif heic; do there convfilt apply identity /root/rocket.jpg /root/photo.$format; done
    say "modules: $(cd "$root/root" && stat -c '%n %s bytes;' photo.* | xargs)"
    say "apt-get install ./libconvfilt0.1_*.deb ./libconvfilt-dev_*.deb, and what builds a program"
    apt install --no-install-recommends $(cd "$root/root" && printf './root/%s ' libconvfilt*.deb) g++ make cmake
  fi
  there sh -ec 'cmake -S /root/library -B /root/filter && cmake --build /root/filter' >"$root/root/example.log" 2>&1 || { cat "$root/root/example.log" >&2; die "the example of the library does not build"; }
  say "samples/library: $(there /root/filter/filter)"

  apt install --no-install-recommends bash-completion fish zsh man-db tmux
  [ -s "$root$prefix/share/zsh/$zsh/_convfilt" ] || die "no completion for zsh is in $prefix/share/zsh/$zsh"
  there env MANPAGER=cat MANWIDTH=80 man convfilt >"$root/root/page" || die "man convfilt fails"
  grep -q 'EXIT STATUS' "$root/root/page" || die "the manual page lacks its end"
  say "man convfilt: $(wc -l <"$root/root/page") lines; $(there whatis convfilt)"

  printf '. /usr/share/bash-completion/bash_completion\nPS1="ready> "\n' >"$root/root/.bashrc"
  printf 'autoload -U compinit && compinit -u\nPS1="ready> "\n' >"$root/root/.zshrc"
  mkdir -p "$root/root/.config/fish"
  printf 'set fish_greeting\nfunction fish_prompt; echo -n "ready> "; end\n' >"$root/root/.config/fish/config.fish"
  for shell in bash fish zsh; do
    there tmux new-session -d -s "$shell" -x 150 -y 40 -c /root "$shell"
    waits_for "$shell" 'ready>' "begins"
    types "$shell" 'convfilt bl' 'convfilt blur'
    types "$shell" 'convfilt blur --strategy tiled-' 'tiled-in' 'tiled-out'
    types "$shell" 'convfilt apply embo' 'convfilt apply emboss3'
    types "$shell" 'convfilt edge --method scha' 'scharr'
    types "$shell" 'convfilt blur rock' 'convfilt blur rocket.jpg'
    say "$shell $(there "$shell" --version | grep -oE '[0-9]+\.[0-9.]+' | head -1) completes 5 lines"
  done
  there tmux kill-server
  rm "$root/root/.bashrc" "$root/root/.zshrc"

  if [ "$kind" = deb ]; then
    there dpkg -L convfilt libconvfilt0.1 libconvfilt-dev $modules | sort -u >"$root/root/owned"
    apt purge convfilt libconvfilt0.1 libconvfilt-dev $modules
    [ -z "$(there dpkg-query -W -f '${db:Status-Abbrev}' '*convfilt*' 2>/dev/null | tr -d ' un')" ] || die "dpkg still knows convfilt"
  else
    cp "$root/root/convfilt/build/release/install_manifest.txt" "$root/root/owned"
    there cmake -P /root/convfilt/build/release/uninstall.cmake >"$root/root/uninstall.log" 2>&1 || { cat "$root/root/uninstall.log" >&2; die "uninstall.cmake fails"; }
  fi
  left=$(while read -r path; do [ ! -e "$root$path" ] || [ -d "$root$path" ] || echo "$path"; done <"$root/root/owned")
  # Pages that were read are kept in /var/cache/man, which man-db itself clears.
  left+=$(find "$root" -xdev \( -path "$root/root" -o -path "$root/proc" -o -path "$root/var/cache/man" \) -prune -o -iname '*convfilt*' -print)
  [ -z "$left" ] || die "left after uninstalling: $left"
  say "uninstalled: none of $(wc -l <"$root/root/owned") paths is left, nor any of that name"
}
screen() { there tmux capture-pane -p -t "$1"; }
waits_for() {  # SHELL WORD WHAT: up to 20 s
  for _ in $(seq 100); do ! screen "$1" | grep -F -- "$2" >/dev/null || return 0; sleep 0.2; done
  screen "$1" >&2
  die "$1: no '$2' on its screen when it $3"
}
types() {  # SHELL TEXT WORD...: types the text and two tabs, and waits for the words
  local shell=$1 text=$2 word
  shift 2
  there tmux send-keys -t "$shell" -l "$text"
  waits_for "$shell" "$text" "echoes"
  there tmux send-keys -t "$shell" Tab
  sleep 0.5
  there tmux send-keys -t "$shell" Tab
  for word in "$@"; do waits_for "$shell" "$word" "completes '$text'"; done
  there tmux send-keys -t "$shell" C-c
  there tmux send-keys -t "$shell" -l clear
  there tmux send-keys -t "$shell" Enter
  sleep 0.5
  waits_for "$shell" 'ready>' "is cleared"
}
if [ "${1:-}" = --inside ]; then shift; inside "$@"; exit; fi

# The versions in a system that are not within the bounds of packaging/dependencies.txt.
outside_bounds() {  # ROOT
  grep -v '^#' packaging/dependencies.txt | while read -r name package _ oldest newest; do
    # "1:1.3.dfsg+really1.3.1-1" is 1.3.1.
    has=$(chroot "$1" dpkg-query -W -f '${Version}' "$package" | sed 's/^[0-9]*://; s/-[^-]*$//; s/.*+really//; s/[+~].*//; s/[.]dfsg$//' | cut -d. -f1-3)
    [ "$(printf '%s\n' "$oldest" "$has" "$newest" | sort -V | xargs)" = "$oldest $has $newest" ] || echo "$name $has, not $oldest to $newest; "
  done
}

within() {  # NAME KIND
  unshare --mount --pid --fork --kill-child "$PWD/packaging/try.sh" --inside "$base/$1" "$2"
}

kind=${1:-}
case $kind in
  source | deb | both | all) ;;
  *) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' packaging/try.sh; exit 2 ;;
esac
[ "$(id -u)" = 0 ] || die "making a system needs root"
command -v debootstrap >/dev/null || die "debootstrap is not installed; apt-get install debootstrap"
commit=${TRIED_COMMIT:-$(git rev-parse --short HEAD)}

if [ "$kind" = all ]; then
  mkdir -p build/try
  summary="commit $commit, tests/run.sh ${TESTS:-}" failed=0
  for suite in bookworm trixie; do
    log=build/try/$suite.log result=passed SECONDS=0
    TRIED_COMMIT=$commit packaging/try.sh both "$suite" 2>&1 | tee "$log" || { result="FAILED ($(tail -n 1 "$log"))"; failed=1; }
    summary+=$'\n'"$suite: $result in $(((SECONDS + 30) / 60)) minutes; $(sed -n 's/^== quickstart.sh took .* s, with //p' "$log"); $(grep 'tests passed, ' "$log" || echo 'no tests ran')"
  done
  say "all: $summary"
  exit $failed
fi

suite=${2:-$(. /etc/os-release; echo "$VERSION_CODENAME")}
mirror=${3:-$(apt-get indextargets --format '$(CODENAME) $(SITE)' 2>/dev/null | awk -v suite="$suite" '$1 == suite { site = $2 } END { print site }')}
base=$(mktemp -d)
trap 'rm -rf --one-file-system "$base"' EXIT
say "debootstrap --variant=minbase $suite"
debootstrap --variant=minbase --components="${COMPONENTS:-main}" "$suite" "$base/bare" ${mirror:+"$mirror"} >"$base/log" 2>&1 || { tail -n 20 "$base/log" >&2; die "debootstrap failed"; }
cp -r samples/rocket.jpg samples/library "$base/bare/root/"
cp -a "$base/bare" "$base/build"  # for all that needs compilers; the .deb is installed in the bare one
mkdir "$base/build/root/convfilt"
git archive "$commit" | tar x -C "$base/build/root/convfilt"

[ "$kind" = deb ] || within build source
if [ "$kind" != source ]; then
  within build package
  cp "$base/build/root/convfilt/build/package"/*.deb "$base/bare/root/"
  debs=("$base/bare/root"/*.deb)
  if command -v lintian >/dev/null; then
    lintian --fail-on error "${debs[@]}" 2>&1 | grep -v 'root privileges' || true
    lintian --fail-on error "${debs[@]}" >/dev/null 2>&1 || die "lintian finds errors"
    say "lintian: no errors"
  else
    echo "skipped: lintian, which is not installed"
  fi
  say "$(cd "$base/bare/root" && ls -l -- *.deb | awk '{ print $NF ", " $5 " bytes" }'); the program needs $(dpkg-deb -f "$base/bare/root"/convfilt_*.deb Depends)"
  within bare deb
fi
[ "$kind" = deb ] || within build tests
others=$(outside_bounds "$base/build")
[ -z "$others" ] || [[ $suite != bookworm && $suite != trixie ]] || die "all else passed, but packaging/dependencies.txt lacks versions that were tried: $others"
say "passed${others:+, with versions that packaging/dependencies.txt lacks: $others}"
