#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# keep_ptx.sh FOLDER COMMAND...: runs a command of nvcc, whose last word is the object. Keeps the PTX in the folder, and
# no other intermediate file. Each object has its own folder meanwhile, because builds run several commands at a time.
folder=$1
shift
for object; do :; done
own="$folder/$(basename "$object")"
mkdir -p "$own" && "$@" -keep -keep-dir="$own" && mv "$own"/*.ptx "$folder"
code=$?
rm -rf "$own"
exit $code
