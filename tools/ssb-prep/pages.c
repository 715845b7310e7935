#include "tools/ssb-prep/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

static const size_t HUGE_PAGE = (size_t)2 << 20;

void *pages_new(size_t bytes)
{
	const size_t whole = (bytes / HUGE_PAGE + 1) * HUGE_PAGE;
	void *pages = whole > bytes ? aligned_alloc(HUGE_PAGE, whole) : NULL;
	if (pages)
		(void)madvise(pages, whole, MADV_HUGEPAGE); /* only speed is lost where it fails */
	return pages;
}

void pages_drop(void *pages, size_t from, size_t to)
{
	from = from / HUGE_PAGE * HUGE_PAGE;
	to = to / HUGE_PAGE * HUGE_PAGE;
	if (to > from)
		(void)madvise((char *)pages + from, to - from, MADV_DONTNEED);
}
