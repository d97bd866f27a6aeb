#include "CLibFuzzer.h"

// Where the library's own `main` is linked too, as in builds for debugging, it wants a target; ours are not called by it.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return 0; }
