#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# keep_ptx.sh FOLDER COMMAND...: runs a command of nvcc, whose last word is the object. Keeps the PTX in the folder, and
# no other intermediate file. Each object has its own folder meanwhile, because builds run several commands at a time.
folder=$1
shift
for object; do :; done
file=$(basename "$object")
own="$folder/$file"
export CCACHE_DISABLE=1 # a hit in the cache of ccache leaves no PTX, so ccache runs nvcc here
mkdir -p "$own" && "$@" -keep -keep-dir="$own" && rm -f "$folder/${file%%.*}".ptx "$folder/${file%%.*}".compute_*.ptx && mv "$own"/*.ptx "$folder"
code=$?
rm -rf "$own"
exit $code
