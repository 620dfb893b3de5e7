"""Find the strongest frequency of a measured signal and how far it stands above the rest."""

import argparse
import csv
import json

import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--signal", required=True, help="CSV with the columns t [s] and u [V]")
    parser.add_argument("--window", choices=("hann", "none"), default="hann")
    options = parser.parse_args()
    with open(options.signal, newline="", encoding="utf-8") as lines:
        rows = np.array([list(map(float, row)) for row in list(csv.reader(lines))[1:]])
    times, values = rows.T
    shape = np.hanning(len(values)) if options.window == "hann" else np.ones(len(values))
    power = np.abs(np.fft.rfft((values - values.mean()) * shape)) ** 2
    frequencies = np.fft.rfftfreq(len(values), times[1] - times[0])
    top = int(power.argmax())
    rest = np.median(power[1:])
    metrics = {"peak_hz": float(frequencies[top]), "peak_to_median": float(power[top] / rest)}
    with open("spectrum.csv", "w", encoding="utf-8", newline="") as out:
        out.write("frequency [Hz],power\n")
        pairs = zip(frequencies.tolist(), power.tolist(), strict=True)
        out.writelines(f"{f!r},{p!r}\n" for f, p in pairs)
    with open("result.json", "w", encoding="utf-8") as out:
        json.dump({"metrics": metrics}, out)


if __name__ == "__main__":
    main()
