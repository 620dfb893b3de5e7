#!/usr/bin/env python3
"""Steady amplitude of a damped, driven pendulum: CSV in, CSV out, one case per row.

    solve.py --input cases.csv --output amplitudes.csv

Each row has `drive` (1/s^2), `damping` (1/s) and `frequency` (rad/s) of

    theta'' = -sin(theta) - damping theta' + drive cos(frequency t)

starting at rest. `amplitude` (rad) is the largest angle in the last fifth of
120 s, integrated by the classical Runge-Kutta method in steps of 0.02 s.
"""

import argparse
import csv
import math
import sys

STEP, STEPS = 0.02, 6000


def amplitude(drive, damping, frequency):
    """Return the largest angle after the transient, in radians."""
    sin, cos = math.sin, math.cos
    angle, speed, largest = 0.0, 0.0, 0.0
    half, sixth = STEP / 2, STEP / 6
    push, half_push = drive, drive * cos(frequency * half)
    for step in range(STEPS):
        last_push = drive * cos(frequency * (step + 1) * STEP)
        a1 = push - damping * speed - sin(angle)
        v2 = speed + half * a1
        a2 = half_push - damping * v2 - sin(angle + half * speed)
        v3 = speed + half * a2
        a3 = half_push - damping * v3 - sin(angle + half * v2)
        v4 = speed + STEP * a3
        a4 = last_push - damping * v4 - sin(angle + STEP * v3)
        angle += sixth * (speed + 2 * v2 + 2 * v3 + v4)
        speed += sixth * (a1 + 2 * a2 + 2 * a3 + a4)
        push = last_push
        half_push = drive * cos(frequency * (step + 1.5) * STEP)
        if step >= STEPS * 4 // 5 and abs(angle) > largest:
            largest = abs(angle)
    return largest


def main():
    """Solve every row of the input."""
    parser = argparse.ArgumentParser(description="Steady amplitude of a driven pendulum.")
    parser.add_argument("--version", action="version", version="pendulum 1.0")
    parser.add_argument("--input", required=True)
    parser.add_argument("--output", required=True)
    options = parser.parse_args()
    with open(options.input, encoding="utf-8", newline="") as stream:
        cases = list(csv.DictReader(stream))
    with open(options.output, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["amplitude"])
        for case in cases:
            found = amplitude(*(float(case[name]) for name in ("drive", "damping", "frequency")))
            writer.writerow([repr(found)])


if __name__ == "__main__":
    sys.exit(main())
