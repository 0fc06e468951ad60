// Serves the main queue on the main thread. Dispatch's own function ends that thread, and valgrind with it.
#include <poll.h>
#include <stdint.h>
#include <unistd.h>

int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);

void dispatch_main(void) {
    struct pollfd entry = {_dispatch_get_main_queue_handle_4CF(), POLLIN, 0};
    uint64_t count;
    for (;;) {
        if (poll(&entry, 1, -1) > 0 && read(entry.fd, &count, sizeof count) > 0)
            _dispatch_main_queue_callback_4CF(NULL);
    }
}
