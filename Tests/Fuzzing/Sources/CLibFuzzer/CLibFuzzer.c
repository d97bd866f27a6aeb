#include "CLibFuzzer.h"

// Debug builds also link the `main` of libFuzzer, which needs this symbol. It is never called.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return 0; }
