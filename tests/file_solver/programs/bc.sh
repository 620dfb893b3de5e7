#!/bin/sh
# Square roots by bc, one case per row, for files that INPUT and OUTPUT name.
if [ "$1" = "--version" ]; then exec bc --version; fi
{
    echo "root"
    tail -n +2 "$1" | while read -r value; do
        echo "scale=12; sqrt($value)" | bc -l
    done
} > "$2"
