# No command, misspelt ones, and an option where the command belongs.
try
try blurr
try BLUR
try convolve
try help blurr
try --verion
try --hepl
try -v blur samples/camera.png out.png
try --strategy=cpu
try $'a\nb'
convfilt help | cmp - <(convfilt --help)
convfilt help edge | cmp - <(convfilt edge --help)
only .
