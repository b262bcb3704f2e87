#!/usr/bin/env bash
# What conda's build runs in the unpacked release, with its own PREFIX, CMAKE_ARGS and CPU_COUNT.
set -euo pipefail
# shellcheck disable=SC2086  # words
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release ${CMAKE_ARGS:-} -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DCONVFILT_CUDA=OFF -DCONVFILT_TESTS=OFF -DCONVFILT_MODULE_PYTHON=OFF
cmake --build build --parallel "$CPU_COUNT"
cmake --install build
