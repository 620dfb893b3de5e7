/* Temperature in the middle of a slab whose conductivity grows with temperature: one case per row.

       T_t = (k(T) T_x)_x,   k(T) = 1 + slope T,   0 < x < 1,   T(x, 0) = 0

   The left face is held at `left`, the right one at `right` (both in units of a reference
   temperature); `middle` is T(1/2, 0.2). Time is in units of the diffusion time of the slab.
   Explicit finite volumes on 101 points; the step follows from the stability of the hottest one.

       heat --input cases.csv --output middle.csv */
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 101 };

static double middle(double left, double right, double slope) {
    double temperature[POINTS] = {0}, flow[POINTS];
    const double width = 1.0 / (POINTS - 1), end = 0.2;
    const double hottest = left > right ? left : right;
    const double wanted = 0.4 * width * width / (1 + slope * hottest);
    const long steps = (long)ceil(end / wanted);
    const double step = end / (double)steps;
    temperature[0] = left;
    temperature[POINTS - 1] = right;
    for (long number = 0; number < steps; number++) {
        for (int at = 0; at < POINTS - 1; at++) {
            double mean = 0.5 * (temperature[at] + temperature[at + 1]);
            flow[at] = (1 + slope * mean) * (temperature[at + 1] - temperature[at]) / width;
        }
        for (int at = 1; at < POINTS - 1; at++)
            temperature[at] += step * (flow[at] - flow[at - 1]) / width;
    }
    return temperature[POINTS / 2];
}

int main(int count, char **words) {
    const char *input = NULL, *output = NULL;
    if (count == 2 && strcmp(words[1], "--version") == 0) {
        puts("heat 1.0");
        return 0;
    }
    for (int at = 1; at + 1 < count; at += 2) {
        if (strcmp(words[at], "--input") == 0) input = words[at + 1];
        else if (strcmp(words[at], "--output") == 0) output = words[at + 1];
    }
    FILE *given = input ? fopen(input, "r") : NULL;
    FILE *taken = output ? fopen(output, "w") : NULL;
    char line[256];
    double left, right, slope;
    if (!given || !taken || !fgets(line, sizeof line, given)) {
        fputs("usage: heat --input CSV --output CSV\n", stderr);
        return 2;
    }
    fputs("middle\n", taken);
    while (fgets(line, sizeof line, given)) {
        if (sscanf(line, "%lf,%lf,%lf", &left, &right, &slope) != 3) return 3;
        if (1 + slope * (left < right ? left : right) <= 0 || slope < 0) {
            fputs("the conductivity has to be positive\n", stderr);
            return 4;
        }
        fprintf(taken, "%.17g\n", middle(left, right, slope));
    }
    return fclose(taken) != 0;
}
