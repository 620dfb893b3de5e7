#!/usr/bin/env python3
"""Decay of two nuclides in a chain; reads a constant from a file beside the program."""

import csv
import math
import pathlib
import sys

if sys.argv[1:] == ["-h"]:
    print("usage: decay.py INPUT OUTPUT")
    sys.exit(0)
rate = float((pathlib.Path(__file__).parent / "data" / "rate.txt").read_text())
with open(sys.argv[1], newline="") as given, open(sys.argv[2], "w", newline="") as taken:
    writer = csv.writer(taken)
    writer.writerow(["daughter"])
    for case in csv.DictReader(given):
        if float(case["time"]) > 90:
            sys.exit("time is too long")
        writer.writerow([repr(math.exp(-rate * float(case["time"])) * float(case["amount"]))])
