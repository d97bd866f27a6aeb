// The system's zlib, for reading .gz files. Only the tool uses it: see Docs/Decisions/0007-zlib.md.
#include <zlib.h>
