#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# keep_ptx.sh FOLDER COMMAND...: runs a command of nvcc. Keeps the PTX in the folder, and no other intermediate file.
folder=$1
shift
mkdir -p "$folder" && "$@" -keep -keep-dir="$folder" && find "$folder" -type f ! -name '*.ptx' -exec rm {} +
