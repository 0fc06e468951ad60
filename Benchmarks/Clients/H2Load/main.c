// Measures h2load, the load generator of nghttp2. It parses and counts responses, and stores nothing.
//
// H2LoadClient ACTION URL FILE REQUESTS WARM-UP IN-FLIGHT CONNECTIONS

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef struct {
    double seconds, cpu_seconds;
    long switches, peak_kilobytes;
    long long yield;
} Usage;

static double seconds(const struct timeval *time) { return time->tv_sec + time->tv_usec / 1e6; }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

// Runs h2load and adds its usage.
static void run(Usage *total, char **arguments, long requests) {
    char command[1024], line[256];
    long connections = atol(arguments[7]), streams = atol(arguments[6]) / connections;
    snprintf(command, sizeof command, "exec h2load --clients=%ld --max-concurrent-streams=%ld --requests=%ld '%s'",
        connections, streams, requests, arguments[2]);
    double start = now();
    FILE *output = popen(command, "r");
    // The line ends with the size of the bodies in parentheses.
    while (output && fgets(line, sizeof line, output))
        if (!strncmp(line, "traffic:", 8)) total->yield += atoll(strrchr(line, '(') + 1);
    if (!output || pclose(output)) {
        fprintf(stderr, "H2LoadClient: %s failed\n", command);
        exit(1);
    }
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    total->seconds += now() - start;
    total->cpu_seconds = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
    total->switches = usage.ru_nvcsw;
    total->peak_kilobytes = usage.ru_maxrss;
}

int main(int count, char **arguments) {
    if (count != 8) return 64;
    long requests = atol(arguments[4]), warm_up = atol(arguments[5]);
    // The difference between two runs excludes startup and exit.
    Usage first = {0};
    run(&first, arguments, warm_up);
    Usage both = first;
    run(&both, arguments, warm_up + requests);
    printf("{\"requests\":%ld,\"yield\":%lld,\"seconds\":%.9f,", requests, both.yield - 2 * first.yield,
        both.seconds - 2 * first.seconds);
    printf("\"cpuSeconds\":%.6f,\"switches\":%ld,\"peakKilobytes\":%ld}\n", both.cpu_seconds - 2 * first.cpu_seconds,
        both.switches - 2 * first.switches, both.peak_kilobytes);
    return 0;
}
