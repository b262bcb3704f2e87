# The schedule of in-parts, as books have it: parts of L1 weights, blocks of L2 samples, and which pairs are in which interval
# of which division. The same in both domains, and however sums are added; and what overlap-discard costs beside overlap-add.
convfilt explain in-parts --mask 36x1 --size 60x1 --part 6 --block 12 --mode full --flip
schedule() { convfilt explain in-parts --mask 36x1 --size 60x1 --part 6 --block 12 --mode full "$@" | sed -n '/^  division/,/^$/p'; }
schedule --flip >expected
for words in '--domain spatial' '--accumulate divisions' '--accumulate steps' '--domain spatial --accumulate steps' '--depth f32'; do
  # shellcheck disable=SC2086  # words
  schedule --flip $words | cmp - expected || fail "$words: another schedule"
done
! convfilt explain in-parts --mask 36x1 --part 6 --block 12 --accumulate atomic | grep 'division 0' || fail "atomic additions have divisions"
# In two dimensions there is a schedule along each axis.
convfilt explain in-parts --mask 8x8 --part 4 --block 8 --size 40x30 --mode valid | sed -n '/^Schedule/,/^Global/p'
convfilt explain --table overlap --mask 9x9
convfilt explain --table overlap --mask 9x9 --json | grep '"reads": 1065024' >/dev/null || fail "no such JSON"
convfilt explain --table overlap --mask 5x5 --markdown | grep '^| reads |' >/dev/null || fail "no such Markdown"
# The block's side, the part's and the domain are those asked for.
convfilt explain --table overlap --mask 9x9 --block 24 --part 8 --domain spatial --size 200x120
convfilt explain --table overlap --mask 9x9 --block 120 | grep 'its transform  *120x120  *128x128  *128x128' >/dev/null ||
  fail "other frames than those of blocks of 120"
