# What is wrong in the environment or in the file is said with the variable's name, or with file and line.
pgm in.pgm <<<"10 20 30"
from() { printf '%s\n' "$@" >c.toml; try blur in.pgm out.pgm --config c.toml; }
CONVFILT_BORDER=relect try blur in.pgm out.pgm
CONVFILT_STRATEGY=tield-in try blur in.pgm out.pgm
CONVFILT_DEVICE=gpu try blur in.pgm out.pgm
CONVFILT_THREADS=many try blur in.pgm out.pgm
CONVFILT_THREADS=0 try blur in.pgm out.pgm
CONVFILT_DEVICE=emulator try tune
CONVFILT_STRATEGY=winograd try blur in.pgm out.pgm
CONVFILT_MAX_PIXELS=2 try blur in.pgm out.pgm
# Two defaults that clash are told, if nothing on the command line decides between them.
CONVFILT_STRATEGY=cpu CONVFILT_DEVICE=emulator try blur in.pgm out.pgm
# A variable that sets nothing, but looks as if it should, is warned of; a script's own is not.
CONVFILT_BORDR=wrap try blur in.pgm out.pgm
CONVFILT_SIGMA=3 CONVFILT_FILTER=masks CONVFILT_TEST_DEVICES=cpu CONVFILT_DEVIC='' try blur in.pgm out.pgm
CONVFILT_BORDR=wrap CONVFILT_SIGMA=3 try blur in.pgm out.pgm -q
# A mistake in a flag is not put down to a variable that is right.
CONVFILT_BORDER=wrap try blur in.pgm out.pgm --strategy tield-in
CONVFILT_DEVICE=cpu try blur in.pgm out.pgm --devices x
CONVFILT_BORDER=relect try blur in.pgm out.pgm --border wrap
echo 'border = constant' >c.toml
try blur in.pgm out.pgm --config c.toml --border-value white
from 'border = relect'
from '' '# comment' '[blur]' 'sigma = wide'
from 'bordr = wrap'
from '[blur]' 'amount = 2'
from '[blurr]'
from '[list]' 'border = wrap'
from 'border'
from 'border ='
from 'border = "wr\ap"'
from '= wrap'
from 'border = "wrap'
from 'border = "wrap" "reflect"'
from 'mask = ["3x3", "5x5"]'
from '[blur' 'sigma = 3'
from '[]'
from 'border = wrap' 'border = reflect'
from 'verbose = maybe'
from 'verbose = true' 'quiet = true'
from 'in-place = true'
from 'help = true'
from 'config = other.toml'
from 'IN = in.pgm'
from '[compare]' 'json = all.json'
from 'x'
try blur in.pgm out.pgm --config missing.toml
try blur in.pgm out.pgm --config samples
mkfifo pipe
(sleep 20; echo >pipe) & # so that waiting for it ends
try blur in.pgm out.pgm --config pipe
kill $!
rm pipe
try blur in.pgm out.pgm --config /dev/zero
{ echo 'sigma = 3'; printf '#%.0s' {1..1100000}; } >c.toml
try blur in.pgm out.pgm --config c.toml
# A file whose bytes cannot be read, though it can be opened.
[ -r /proc/self/mem ] && try blur in.pgm out.pgm --config /proc/self/mem
echo >c.toml
# A word of the command line that a variable has, too, is not put down to the variable; nor is a file's name.
CONVFILT_STRATEGY=cpu try apply cpu in.pgm out.pgm
CONVFILT_DEVICE=cpu try blur cpu out.pgm
try blur in.pgm out.pgm --config c.toml --config c.toml
try list --config c.toml
only . in.pgm c.toml out.pgm
