# --codec says who reads and writes JPEGs. A GPU's codecs need a plain picture and a GPU; without one, all
# works on the CPU, and says so.
mkdir in
for name in a b; do convfilt apply identity samples/rocket.jpg in/$name.jpg -q; done
convfilt blur in cpu --codec cpu -q
convfilt blur in auto -v 2>&1 | grep "JPEGs are"
cmp cpu/a.jpg auto/a.jpg
# Shards must agree, so none of them looks at its share or its machine.
convfilt blur in shards --shard 1/2 -v 2>&1 | grep "JPEGs are"
said=$(convfilt blur in devices --devices 0 --no-progress 2>&1)
warning='convfilt: warning: --devices: there is no CUDA device here; the CPU does all'
if has_cuda; then [[ $said != *warning* ]]; else [[ $said == "$warning"* ]]; fi || fail "it says: $said"
convfilt blur in cpu --codec cpu --json -q | grep -o '"codec":"cpu"'
try blur in out --codec xpu
try blur in/a.jpg out.jpg --codec gpu
try blur in/a.jpg out.jpg --devices 0
try blur in out --codec gpu --linear
try blur in out --codec gpu --progressive
try blur in out --codec gpu --optimize
try blur in out --codec gpu --loader opencv
try blur in out --codec gpu --device cpu
try blur in out --codec gpu --strategy cpu
[ ! -e out ] || fail "something was written"
