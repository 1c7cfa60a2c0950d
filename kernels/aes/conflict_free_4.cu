// AES with 4 replicated T-table(s): a module of its own, since a device loads just one of them.
#include "conflict_free.cuh"

AES_CONFLICT_FREE(4)
