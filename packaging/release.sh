#!/usr/bin/env bash
# Writes the source tarball of the newest commit, and its address and sum into the recipes for conda and Homebrew.
#
#   packaging/release.sh FOLDER_URL [OUT]     FOLDER_URL is where the tarball will be loaded from; it is written to the folder
#                                             OUT, by default build/release-VERSION
#
# Publish the tarball, then commit the recipes. Every run writes the same bytes for the same commit.
set -euo pipefail
die() { echo "packaging/release.sh: $*" >&2; exit 1; }
case ${1:-} in
  http*://*) url=${1%/} ;;
  -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;;
  *) die "which address will the tarball be loaded from? See --help" ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ -z "$(git status --porcelain --untracked-files=no -- . ':!packaging/conda' ':!packaging/homebrew')" ] || die "changes are not committed, so they would not be in the tarball"
version=$(git show HEAD:CMakeLists.txt | sed -n 's/^project(convfilt VERSION \([0-9.]*\) .*/\1/p')
name=convfilt-$version
out=${2:-build/release-$version}
mkdir -p "$out"
git archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$out/$name.tar.gz"
sum=$(sha256sum "$out/$name.tar.gz" | cut -d ' ' -f 1)
sed -i -E "s|^(  version: \")[0-9.]+\"|\1$version\"|; s|^(  url: ).*|\1$url/$name.tar.gz|; s|^(  sha256: \").*|\1$sum\"|" packaging/conda/recipe.yaml
sed -i -E "s|^(  url \").*|\1$url/$name.tar.gz\"|; s|^(  sha256 \").*|\1$sum\"|" packaging/homebrew/convfilt.rb
for recipe in packaging/conda/recipe.yaml packaging/homebrew/convfilt.rb; do grep -q "$sum" "$recipe" || die "$recipe has no place for the sum"; done
echo "$out/$name.tar.gz: $(stat -c %s "$out/$name.tar.gz") bytes, sha256 $sum"
