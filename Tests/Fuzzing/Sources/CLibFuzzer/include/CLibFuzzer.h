#include <stddef.h>
#include <stdint.h>

/// libFuzzer as a library: calls `target` with inputs until one fails or the arguments say that it is enough.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*target)(const uint8_t *data, size_t size));
