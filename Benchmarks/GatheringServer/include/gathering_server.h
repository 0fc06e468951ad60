#include <stddef.h>
#include <stdint.h>

// Starts a server on 127.0.0.1 that answers when so many requests have come, each on a connection of its own: so all of
// them are in flight at once. It has a thread of this process, whose memory and processor time are no client's, and ends
// with the process. Returns its port, or 0 when there is no socket or no thread to be had.
uint16_t gathering_server_start(int count, const char *body);
