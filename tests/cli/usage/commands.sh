# No command, misspelt ones, and an option where the command belongs.
try
try blurr
try BLUR
try convolve
try help
try -v blur samples/camera.png out.png
try --strategy=cpu
try $'a\nb'
only .
