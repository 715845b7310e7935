/* Large memory in huge pages, where the system has them: faulting in every 4 KB of G would cost more than its arithmetic. */
#ifndef SSB_PREP_PAGES_H
#define SSB_PREP_PAGES_H

#include <stddef.h>

/* `bytes` that begin on a huge page; NULL when memory runs out. Release with free. */
void *pages_new(size_t bytes);

/* Give back to the system what holds bytes from … to - 1 of the memory at `pages`, whole huge pages, rounded down: their content is lost. */
void pages_drop(void *pages, size_t from, size_t to);

#endif
