#define _GNU_SOURCE
#include "gathering_server.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096, EVENTS_AT_ONCE = 256 };

typedef struct {
    int listener, epoll, count;
    int *waiting;  // connections whose requests wait for the others
    int waiting_count;
    char answer[512];
} Server;

static void watch(const Server *server, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, descriptor, &event) < 0) close(descriptor);
}

// A request ends with the empty line after its fields, because it has no body.
static void receive(Server *server, int connection) {
    char bytes[4096];
    ssize_t length = recv(connection, bytes, sizeof bytes, 0);
    if (length <= 0) {
        close(connection);
        return;
    }
    if (length < 4 || memcmp(bytes + length - 4, "\r\n\r\n", 4)) return;
    server->waiting[server->waiting_count++] = connection;
    if (server->waiting_count < server->count) return;
    for (int index = 0; index < server->count; index++)
        send(server->waiting[index], server->answer, strlen(server->answer), MSG_NOSIGNAL);
    server->waiting_count = 0;
}

static void *serve(void *context) {
    Server *server = context;
    struct epoll_event events[EVENTS_AT_ONCE];
    for (;;) {
        int ready = epoll_wait(server->epoll, events, EVENTS_AT_ONCE, -1);
        for (int index = 0; index < ready; index++) {
            if (events[index].data.fd != server->listener) {
                receive(server, events[index].data.fd);
                continue;
            }
            int connection = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
            if (connection >= 0) watch(server, connection);
        }
    }
}

uint16_t gathering_server_start(int count, const char *body) {
    Server *server = calloc(1, sizeof *server);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    pthread_t thread;
    if (!server || !(server->waiting = calloc(count, sizeof *server->waiting))) return 0;
    server->count = count;
    snprintf(server->answer, sizeof server->answer, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
        strlen(body), body);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (server->listener < 0 || server->epoll < 0
        || bind(server->listener, (struct sockaddr *)&address, sizeof address) < 0
        || listen(server->listener, BACKLOG) < 0
        || getsockname(server->listener, (struct sockaddr *)&address, &length) < 0) return 0;
    watch(server, server->listener);
    if (pthread_create(&thread, NULL, serve, server)) return 0;
    pthread_detach(thread);
    return ntohs(address.sin_port);
}
