#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer: calls `target` with inputs until one fails or a limit of the arguments is reached.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*target)(const uint8_t *data, size_t size));
