#!/usr/bin/env bash
# Append the days that are on the memory card but not yet in the notebook's file.
#
#   collect.sh CARD.csv READINGS.csv
#
# Dates are written year first, so comparing them as text compares them in time.
set -euo pipefail

if [[ $# -ne 2 ]]; then
    echo "usage: collect.sh CARD.csv READINGS.csv" >&2
    exit 2
fi
card=$1
readings=$2

if [[ ! -f $card ]]; then
    echo "no such file: $card" >&2
    exit 1
fi
if [[ ! -f $readings ]]; then
    head -n 1 "$card" > "$readings"
fi

last=$(tail -n 1 "$readings" | cut -d , -f 1)
# On a new file the last line is the header; every date sorts after an empty text.
if [[ $last == date ]]; then
    last=""
fi

before=$(wc -l < "$readings")
awk -F , -v last="$last" 'NR > 1 && ($1 "") > (last "")' "$card" >> "$readings"
after=$(wc -l < "$readings")
echo "$((after - before)) new days, $((after - 1)) in all"
