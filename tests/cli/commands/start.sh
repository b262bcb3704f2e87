# A start loads no library that few commands need: OpenCV's takes as long as the rest of a short run.
need_tool ldd
ldd "$CONVFILT" >libraries
! grep -E 'opencv|heif|jxl|cufft|cublas|nvimgcodec' libraries || fail "these are loaded at the start"
