/* SPDX-License-Identifier: MIT */
/* array.c - see array.h. */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 256u /* initial size of an array, unless its elements are large */
#define FIRST_ROOM  16u

static size_t array_first_room(size_t bytes)
{
	return bytes < FIRST_BYTES / FIRST_ROOM ? FIRST_BYTES / bytes : FIRST_ROOM;
}

static size_t array_next_room(size_t room, size_t bytes)
{
	if (!room)
		return array_first_room(bytes);
	return room > SIZE_MAX / 2 ? SIZE_MAX : 2 * room;
}

void *wm_array_grow(void *array, size_t *room, size_t need, size_t bytes, size_t room_max,
		    bool zeroed)
{
	size_t next = array_next_room(*room, bytes);
	char *grown;

	if (room_max > PTRDIFF_MAX / bytes)
		room_max = PTRDIFF_MAX / bytes;
	if (need > room_max)
		return NULL;
	if (next < need)
		next = need;
	if (next > room_max)
		next = room_max;
	grown = realloc(array, next * bytes);
	if (!grown)
		return NULL;
	if (zeroed)
		memset(grown + *room * bytes, 0, (next - *room) * bytes);
	*room = next;
	return grown;
}

size_t wm_array_room_of(size_t nr, size_t bytes)
{
	size_t room = 0;

	while (room < nr)
		room = array_next_room(room, bytes);
	return room;
}
