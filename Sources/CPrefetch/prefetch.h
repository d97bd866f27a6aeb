#ifndef SYNC_PREFETCH_H
#define SYNC_PREFETCH_H

/* Asks the processor to load the cache line of an address that will be read soon. Any address is allowed. */
static inline void sync_prefetch(const void *address) { __builtin_prefetch(address); }

#endif
