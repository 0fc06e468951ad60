#include <stddef.h>
#include <stdint.h>

// Starts a server on 127.0.0.1 that waits until `count` requests have arrived, each on its own connection, before it
// responds. All of them are therefore in flight at the same time. The server runs on a thread of this process, so that its
// memory and processor time aren't counted as a client's, and stops when the process exits. Returns its port, or 0 if no
// socket or thread could be created.
uint16_t gathering_server_start(int count, const char *body);
