// Tip deflection and slope of a cantilever: standard input to standard output, as filters do.
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

int main(int count, char **words) {
    if (count > 1 && std::string(words[1]) == "--help") {
        std::cout << "usage: beam < cases.csv > tips.csv\n";
        return 0;
    }
    std::string line;
    std::getline(std::cin, line);
    std::cout << "slope,deflection\n";
    while (std::getline(std::cin, line)) {
        for (char &mark : line)
            if (mark == ',') mark = ' ';
        std::istringstream cells(line);
        double load, length, stiffness;
        if (!(cells >> load >> length >> stiffness)) return 4;
        std::printf("%.17g,%.17g\n", load * length * length / (2 * stiffness),
                    load * length * length * length / (3 * stiffness));
        std::fflush(stdout);
    }
}
