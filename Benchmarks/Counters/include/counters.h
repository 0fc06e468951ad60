// What a process has in use and Swift cannot see.
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stddef.h>

// The bytes of all blocks that malloc has given out and not got back.
size_t counters_heap_bytes(void);

// How many of libcurl's handles (easy, multi and share) the program has made, and freed.
long counters_handles_made(void);
long counters_handles_freed(void);

#endif
