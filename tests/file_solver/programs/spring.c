/* Response of a damped, driven spring: 1 / sqrt((1 - f^2)^2 + (2 d f)^2), one row per case.

   It writes a file of a fixed name into its folder, as old programs do, and fails for a damping
   of zero or less. */
#include <math.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **words) {
    const char *input = NULL, *output = NULL;
    if (count == 2 && strcmp(words[1], "--version") == 0) {
        puts("spring 2.1");
        return 0;
    }
    for (int at = 1; at + 1 < count; at += 2) {
        if (strcmp(words[at], "-i") == 0) input = words[at + 1];
        else if (strcmp(words[at], "-o") == 0) output = words[at + 1];
    }
    if (!input || !output) {
        fputs("usage: solve -i INPUT -o OUTPUT\n", stderr);
        return 2;
    }
    FILE *log = fopen("spring.log", "w");
    FILE *given = fopen(input, "r"), *taken = fopen(output, "w");
    char line[512];
    double f, d;
    if (!log || !given || !taken || !fgets(line, sizeof line, given)) return 3;
    fputs("response\n", taken);
    while (fgets(line, sizeof line, given)) {
        if (sscanf(line, "%lf,%lf", &f, &d) != 2) return 4;
        if (d <= 0) {
            fprintf(stderr, "damping %g is not positive\n", d);
            return 5;
        }
        double response = 1 / sqrt((1 - f * f) * (1 - f * f) + 4 * d * d * f * f);
        fprintf(taken, "%.17g\n", response);
        fprintf(log, "%g\n", response);
    }
    return fclose(taken) || fclose(log);
}
