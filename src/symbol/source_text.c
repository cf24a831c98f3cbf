/* SPDX-License-Identifier: MIT */
/* source_text.c - see source_text.h. */
#include "symbol/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

struct file {
	char *name, *text; /* text is NULL when the file is not on this machine */
	char **lines;      /* pointers into `text`, in which NULs replace the newlines */
	uint32_t nr_lines;
};

struct wm_source_text {
	struct file files[WM_SOURCE_TEXT_FILES_MAX];
	uint32_t nr;
};

int wm_lines_text_create(struct wm_source_text **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void wm_lines_text_destroy(struct wm_source_text *s)
{
	for (uint32_t i = 0; s && i < s->nr; i++) {
		free(s->files[i].name);
		free(s->files[i].text);
		free(s->files[i].lines);
	}
	free(s);
}

static void cut_lines(struct file *f, size_t bytes)
{
	size_t nr = 1;

	for (size_t i = 0; i < bytes; i++)
		nr += f->text[i] == '\n';
	f->lines = calloc(nr, sizeof(char *));
	for (char *at = f->text; f->lines && at && f->nr_lines < nr;) {
		char *end = strchr(at, '\n');

		if (end)
			*end++ = '\0';
		f->lines[f->nr_lines++] = at + strspn(at, " \t");
		at = end;
	}
}

/*
 * Loads a file. Its name comes from debug information, so it is opened only if it is a regular
 * file.
 */
static void source_text_load(struct file *f)
{
	struct stat st;
	size_t bytes = 0;
	int fd = open(f->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    !wm_file_read_fd(fd, WM_SOURCE_TEXT_BYTES_MAX, &f->text, &bytes))
		cut_lines(f, bytes);
	if (fd >= 0)
		(void)close(fd);
}

const char *wm_lines_text_get(struct wm_source_text *s, const char *file, uint32_t line)
{
	struct file *f = s->files;
	uint32_t i = 0;

	while (i < s->nr && strcmp(s->files[i].name, file) != 0)
		i++;
	if (i == WM_SOURCE_TEXT_FILES_MAX)
		return NULL;
	f = &s->files[i];
	if (i == s->nr) {
		f->name = strdup(file);
		if (!f->name)
			return NULL;
		s->nr++;
		source_text_load(f);
	}
	return line && line <= f->nr_lines ? f->lines[line - 1] : NULL;
}
