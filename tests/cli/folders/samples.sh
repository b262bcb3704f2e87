# Each script in samples/folders says on --help what it is for, and so it does where words are missing, with exit code 2.
scripts=(gnu_parallel.sh shell_loop.sh slurm_array.sh)
if command -v python3 >/dev/null; then scripts+=(ray_folder.py); fi
for script in "${scripts[@]}"; do
  for word in --help -h; do
    samples/folders/"$script" $word >said 2>errors || fail "$script $word: exit $?: $(cat errors)"
    [ ! -s errors ] || fail "$script $word: $(cat errors)"
    grep -q "$script .*IN OUT" said || fail "$script $word does not say how it is called: $(cat said)"
    grep -q '^[A-Z].*folder' said || fail "$script $word does not say what it is for: $(cat said)"
    ! grep -qE '^#|SBATCH|set -' said || fail "$script $word shows its source: $(cat said)"
  done
  code=0
  samples/folders/"$script" in >out 2>errors || code=$?
  [ $code = 2 ] || fail "$script in: exit $code: $(cat errors)"
  cmp said errors
  [ ! -s out ] || fail "$script in: $(cat out)"
done
only . errors out said
