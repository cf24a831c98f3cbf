/* SPDX-License-Identifier: MIT */
/*
 * array.h - arrays that grow: a pointer, initially NULL, and the number of elements there is room
 * for, initially 0. The caller owns both and frees the pointer.
 *
 *   if (WM_ARRAY_GROW(list->at, list->room, list->nr + 1))
 *           return -ENOMEM;
 *   list->at[list->nr++] = element;
 *
 * The room at least doubles, so adding n elements one by one copies fewer than 2n. It may be of any
 * unsigned type, whose range it never exceeds. Code that runs in traced programs must not use this,
 * because it allocates.
 */
#ifndef WM_BASE_ARRAY_H
#define WM_BASE_ARRAY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Makes room for at least `need` elements. Returns 0, or -ENOMEM without changing anything. `array`
 * and `room` are evaluated several times.
 */
#define WM_ARRAY_GROW(array, room, need) WM_ARRAY_GROW_BY_((array), (room), (need), false)

/* Like WM_ARRAY_GROW(); new elements are zero. */
#define WM_ARRAY_GROW_ZEROED(array, room, need) WM_ARRAY_GROW_BY_((array), (room), (need), true)

/*
 * The room of an array of `nr` elements that has only ever been grown by one element at a time, for
 * owners that do not store it.
 */
#define WM_ARRAY_ROOM_OF(array, nr) wm_array_room_of((nr), sizeof(*(array)))

#define WM_ARRAY_GROW_BY_(array, room, need, zeroed)                                               \
	({                                                                                         \
		size_t need_ = (need), room_ = (room);                                             \
		int err_ = 0;                                                                      \
                                                                                                   \
		_Static_assert((__typeof__(room))-1 > 0, "the type of the room is unsigned");      \
		if (need_ > room_) {                                                               \
			void *grown_ = wm_array_grow((array), &room_, need_, sizeof(*(array)),     \
						     (__typeof__(room))-1, (zeroed));              \
                                                                                                   \
			if (grown_) {                                                              \
				(array) = grown_;                                                  \
				(room) = (__typeof__(room))room_;                                  \
			} else {                                                                   \
				err_ = -ENOMEM;                                                    \
			}                                                                          \
		}                                                                                  \
		err_;                                                                              \
	})

/*
 * For the macros above: returns the array with room for `need` elements of `bytes` bytes (more than
 * *room, at most `room_max`), and sets *room; NULL: out of memory, or need > room_max.
 */
void *wm_array_grow(void *array, size_t *room, size_t need, size_t bytes, size_t room_max,
		    bool zeroed);
size_t wm_array_room_of(size_t nr, size_t bytes);

#endif
