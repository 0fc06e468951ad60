// The reference: libcurl alone, used as efficiently as possible. It has one thread, uses epoll, reuses handles, and makes no
// unnecessary system calls.
//
// RawCurl ACTION URL FILE REQUESTS WARM-UP IN-FLIGHT CONNECTIONS

#define _GNU_SOURCE
#include <curl/curl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAXIMUM_DESCRIPTORS = 16384, EVENTS_AT_ONCE = 256, LARGE_BUFFER = 512 * 1024 };

typedef struct {
    const char *action, *url, *file;
    long requests, warm_up, in_flight, connections;
} Job;

typedef struct {
    CURL *easy;
    long remaining;  // remaining requests of this handle
    int descriptor;  // of the file to write or read, or −1
} Slot;

static void fail(const char *what) {
    fprintf(stderr, "RawCurl: %s\n", what);
    exit(1);
}

// MARK: The loop

static CURLM *multi;
static int epoll;
static double deadline = -1;  // when libcurl must be called, or −1
static long long yield;       // bytes that were transferred
static int is_shared;         // whether requests share connections, by HTTP/2

// The events that libcurl waits for on each descriptor, and those registered with the kernel. After each response, libcurl
// removes its interest, and restores it for the next request. Changes that cancel out cost no system call.
static struct {
    uint32_t wanted, applied;
    int is_listed;
} interests[MAXIMUM_DESCRIPTORS];
static int changed[MAXIMUM_DESCRIPTORS];
static int changed_count;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int socket_changed(CURL *easy, curl_socket_t socket, int what, void *context, void *socket_context) {
    (void)easy, (void)context, (void)socket_context;
    if (socket >= MAXIMUM_DESCRIPTORS) fail("too many descriptors");
    interests[socket].wanted = what == CURL_POLL_REMOVE ? 0
        : (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
    if (!interests[socket].is_listed) {
        interests[socket].is_listed = 1;
        changed[changed_count++] = socket;
    }
    return 0;
}

static int timer_changed(CURLM *multi, long milliseconds, void *context) {
    (void)multi, (void)context;
    deadline = milliseconds < 0 ? -1 : now() + milliseconds / 1e3;
    return 0;
}

// The kernel forgets a descriptor when it is closed.
static int close_socket(void *context, curl_socket_t socket) {
    (void)context;
    if (socket < MAXIMUM_DESCRIPTORS) interests[socket].applied = interests[socket].wanted = 0;
    return close(socket);
}

static void apply_interests(void) {
    for (int index = 0; index < changed_count; index++) {
        int socket = changed[index];
        uint32_t wanted = interests[socket].wanted, applied = interests[socket].applied;
        interests[socket].is_listed = 0;
        if (wanted == applied) continue;
        struct epoll_event event = {.events = wanted, .data.fd = socket};
        epoll_ctl(epoll, !wanted ? EPOLL_CTL_DEL : !applied ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event);
        interests[socket].applied = wanted;
    }
    changed_count = 0;
}

// Starts the next request of each handle whose request is complete. Returns the number of handles without further requests.
static long restart_finished(void) {
    long finished = 0;
    int rest;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &rest))) {
        if (message->msg != CURLMSG_DONE) continue;
        if (message->data.result != CURLE_OK) fail(curl_easy_strerror(message->data.result));
        CURL *easy = message->easy_handle;
        Slot *slot;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &slot);
        curl_multi_remove_handle(multi, easy);
        if (--slot->remaining > 0) curl_multi_add_handle(multi, easy);
        else finished++;
    }
    return finished;
}

// Before 8.17, libcurl can leave received data of a stream in a buffer, and no event reports it.
static void read_buffers(void) {
    int running;
    for (int socket = 0; socket < MAXIMUM_DESCRIPTORS; socket++)
        if (interests[socket].wanted) curl_multi_socket_action(multi, socket, CURL_CSELECT_IN, &running);
}

static void run(Slot *slots, long count, long requests) {
    struct epoll_event events[EVENTS_AT_ONCE];
    long active = 0;
    int running;
    for (long index = 0; index < count; index++) {
        slots[index].remaining = (requests + index) / count;
        if (slots[index].remaining == 0) continue;
        curl_multi_add_handle(multi, slots[index].easy);
        active++;
    }
    while (active > 0) {
        double wait = deadline < 0 ? 60 : deadline - now();
        if (wait <= 0) {
            deadline = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        } else {
            apply_interests();
            if (is_shared && wait > 0.01) wait = 0.01;
            int ready = epoll_wait(epoll, events, EVENTS_AT_ONCE, (int)(wait * 1e3) + 1);
            if (is_shared && ready == 0) read_buffers();
            for (int index = 0; index < ready; index++) {
                int bits = (events[index].events & EPOLLIN ? CURL_CSELECT_IN : 0)
                    | (events[index].events & EPOLLOUT ? CURL_CSELECT_OUT : 0)
                    | (events[index].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
                curl_multi_socket_action(multi, events[index].data.fd, bits, &running);
            }
        }
        active -= restart_finished();
    }
}

// MARK: Bodies

static size_t count_body(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes, (void)context;
    yield += size * count;
    return size * count;
}

static size_t write_body(char *bytes, size_t size, size_t count, void *context) {
    Slot *slot = context;
    ssize_t written = write(slot->descriptor, bytes, size * count);
    if (written > 0) yield += written;
    return written < 0 ? 0 : written;
}

static size_t read_body(char *bytes, size_t size, size_t count, void *context) {
    Slot *slot = context;
    ssize_t length = read(slot->descriptor, bytes, size * count);
    if (length > 0) yield += length;
    return length < 0 ? CURL_READFUNC_ABORT : (size_t)length;
}

// The header fields that Afar sends with each request. libcurl writes them byte by byte, which takes a sixth of its own time.
static const char *const fields[] = {
    "Accept-Encoding: br, zstd, gzip, deflate",
    "Accept-Language: en-001;q=1.0",
    "User-Agent: RawCurl/Unknown (Unknown; build:Unknown; Linux 6.1.0) libcurl/7.88",
};

static struct curl_slist *make_fields(const Job *job) {
    struct curl_slist *list = NULL;
    for (size_t index = 0; index < sizeof fields / sizeof *fields; index++)
        list = curl_slist_append(list, fields[index]);
    return strcmp(job->action, "upload") ? list : curl_slist_append(list, "Expect:");
}

static void set_up(Slot *slot, const Job *job, CURLU *url, struct curl_slist *list) {
    CURL *easy = slot->easy = curl_easy_init();
    slot->descriptor = -1;
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(easy, CURLOPT_CURLU, url);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    // With CAPATH as well, libcurl would read the certificates repeatedly.
    curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("SSL_CERT_FILE"));
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, is_shared ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, (long)is_shared);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_body);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    if (!strcmp(job->action, "download")) {
        slot->descriptor = open(job->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (slot->descriptor < 0) fail("cannot open the file to write");
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)LARGE_BUFFER);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write_body);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
    } else if (!strcmp(job->action, "discard")) {
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)LARGE_BUFFER);
    } else if (!strcmp(job->action, "upload")) {
        struct stat status;
        slot->descriptor = open(job->file, O_RDONLY | O_CLOEXEC);
        if (slot->descriptor < 0 || fstat(slot->descriptor, &status) < 0) fail("cannot open the file to read");
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)LARGE_BUFFER);
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)status.st_size);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_body);
        curl_easy_setopt(easy, CURLOPT_READDATA, slot);
    }
}

// MARK: Measuring

static struct rusage usage_now(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage;
}

static double cpu_seconds(const struct rusage *usage) {
    return usage->ru_utime.tv_sec + usage->ru_stime.tv_sec + (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static long peak_kilobytes(void) {
    char line[256];
    long peak = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status) && sscanf(line, "VmHWM: %ld", &peak) != 1) {}
    if (status) fclose(status);
    return peak;
}

int main(int count, char **arguments) {
    if (count != 8) return 64;
    Job job = {
        arguments[1], arguments[2], arguments[3],
        atol(arguments[4]), atol(arguments[5]), atol(arguments[6]), atol(arguments[7]),
    };
    is_shared = job.connections < job.in_flight;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer_changed);
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, job.connections);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, job.connections);
    Slot *slots = calloc(job.in_flight, sizeof *slots);
    if (!slots || epoll < 0 || !multi) fail("out of resources");
    // Parsed once instead of for each request.
    CURLU *url = curl_url();
    if (curl_url_set(url, CURLUPART_URL, job.url, 0) != CURLUE_OK) fail("cannot read the URL");
    struct curl_slist *list = make_fields(&job);
    for (long index = 0; index < job.in_flight; index++) set_up(&slots[index], &job, url, list);

    run(slots, job.in_flight, job.warm_up);
    yield = 0;
    double start = now();
    struct rusage usage_start = usage_now();
    run(slots, job.in_flight, job.requests);
    struct rusage usage_end = usage_now();
    double end = now();
    printf("{\"requests\":%ld,\"yield\":%lld,\"seconds\":%.9f,", job.requests, yield, end - start);
    printf("\"cpuSeconds\":%.6f,\"switches\":%ld,\"peakKilobytes\":%ld}\n",
        cpu_seconds(&usage_end) - cpu_seconds(&usage_start), usage_end.ru_nvcsw - usage_start.ru_nvcsw,
        peak_kilobytes());
    return 0;
}
