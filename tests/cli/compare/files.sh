# JSON, CSV and Markdown go to standard output instead of the table, or to files beside it.
compare() { convfilt compare --size 64x64 --mask 3x3 --strategies cpu,basic --device emulator "$@"; }
compare --json >out.json
head -n 3 out.json | sed 's/"[0-9][0-9.]*"/"VERSION"/'
grep -c '"global_reads_per_output": 9.0,' out.json
compare --csv >out.csv
wc -l <out.csv
sed 1d out.csv | cut -d, -f1-14
compare --markdown >out.md
grep -c '^| basic | emulator | 9.00 |' out.md
compare --json=a.json --csv=b.csv --markdown=c.md >table
grep -q '^  basic ' table || fail "no table beside files"
same a.json out.json
same b.csv out.csv
same c.md out.md
only . a.json b.csv c.md out.csv out.json out.md table
