/* SPDX-License-Identifier: MIT */
/*
 * record_env.c - what CMD finds in its environment: the session, and the
 * libraries to load first. The libraries are those beside this very command,
 * in its build folder or its installed prefix, so that an old installation is
 * never mixed with a new command.
 */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"
#include "cmd/record.h"
#include "elf/elf_file.h"
#include "runtime/agent.h"

#define RUNTIME "libwaymark-rt.so.0"

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#else
#define MULTIARCH "aarch64-linux-gnu"
#endif

static const char *const helpers[] = {"malloc", "pthread", "func"};

/* The folder this command lies in, without a '/' at the end. */
static int own_folder(char *buf, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", buf, size - 1);
	char *slash;

	if (n <= 0)
		return n < 0 ? -errno : -ENOENT;
	buf[n] = '\0';
	slash = strrchr(buf, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

/* The first of the places a library of ours can be in. -ENOENT: in none. */
static int find_library(const char *name, char *buf, size_t size)
{
	static const char *const places[] = {"", "/../lib", "/../lib/" MULTIARCH, "/../lib64"};
	char folder[PATH_MAX], whole[PATH_MAX];
	int err = own_folder(folder, sizeof(folder));

	for (size_t i = 0; err == 0 && i < sizeof(places) / sizeof(places[0]); i++) {
		int n = snprintf(whole, sizeof(whole), "%s%s/%s", folder, places[i], name);

		if (n < 0 || (size_t)n >= sizeof(whole) || access(whole, R_OK) < 0)
			continue;
		if (!realpath(whole, folder))
			return -errno;
		/* The name, not what it links to: the loader knows it by that. */
		return snprintf(buf, size, "%s", whole) < (int)size ? 0 : -ENAMETOOLONG;
	}
	return err < 0 ? err : -ENOENT;
}

static int add_library(struct wm_text *t, const char *name, struct wm_diag *diag)
{
	char path[PATH_MAX];
	int err = find_library(name, path, sizeof(path));

	if (err < 0)
		return wm_diag_set(diag, err, NULL, -1,
				   "cannot find %s beside this command or in its ../lib: %s", name,
				   strerror(-err));
	if (strpbrk(path, " :"))
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%s' cannot be preloaded: a space or colon in the name of its "
				   "folder; move waymark elsewhere",
				   path);
	if (t->bytes)
		wm_text_char(t, ':');
	wm_text_str(t, path);
	return 0;
}

static int add_helper(struct wm_text *t, const char *name, size_t bytes, struct wm_diag *diag)
{
	char file[64];

	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++) {
		if (bytes != strlen(helpers[i]) || strncmp(name, helpers[i], bytes))
			continue;
		(void)snprintf(file, sizeof(file), "libwaymark-%s.so", helpers[i]);
		return add_library(t, file, diag);
	}
	return wm_diag_set(diag, -EINVAL, NULL, -1,
			   "--preload: no helper '%.*s'; there are malloc, pthread and func",
			   (int)bytes, name);
}

/* Calls fn for each library the file itself asks for (DT_NEEDED). */
static void each_needed(const struct wm_elf *e, void (*fn)(const char *name, void *data),
			void *data)
{
	const struct wm_elf_section *dynamic = wm_elf_section(e, ".dynamic");
	const struct wm_elf_section *strings = wm_elf_section(e, ".dynstr");
	void *entries = NULL, *names = NULL;

	if (dynamic && strings &&
	    wm_elf_read_new(e, dynamic->offset, dynamic->bytes, 1u << 20, &entries, NULL) == 0 &&
	    wm_elf_read_new(e, strings->offset, strings->bytes, 64u << 20, &names, NULL) == 0) {
		const Elf64_Dyn *d = entries;

		for (size_t i = 0; i < dynamic->bytes / sizeof(*d) && d[i].d_tag != DT_NULL; i++)
			if (d[i].d_tag == DT_NEEDED && d[i].d_un.d_val < strings->bytes)
				fn((const char *)names + d[i].d_un.d_val, data);
	}
	free(entries);
	free(names);
}

struct needed {
	bool runtime;
	char sanitizer[64]; /* "": none */
};

static void note_needed(const char *name, void *data)
{
	struct needed *n = data;

	if (!strcmp(name, RUNTIME))
		n->runtime = true;
	else if (!strncmp(name, "libasan.so", 10) || !strncmp(name, "libtsan.so", 10))
		(void)snprintf(n->sanitizer, sizeof(n->sanitizer), "%s", name);
}

static struct needed needed_by(const char *command)
{
	struct needed n = {0};
	struct wm_elf *elf = NULL;
	char *path = wm_program_find(command, getenv("PATH"));

	if (path && wm_elf_open(path, &elf, NULL) == 0)
		each_needed(elf, note_needed, &n);
	wm_elf_close(elf);
	free(path);
	return n;
}

/*
 * The value of $LD_PRELOAD: helpers, the runtime, what was there before. A
 * sanitizer insists on being the first library: then it is put before all.
 */
static int preload_value(const char *command, const char *list, struct wm_text *t,
			 struct wm_diag *diag)
{
	const char *before = getenv("LD_PRELOAD");
	struct needed needed;
	int err = 0;

	if (list && !strcmp(list, "none"))
		return 0;
	needed = needed_by(command);
	if (needed.sanitizer[0] && needed.runtime && (!list || !*list))
		return 0; /* it has all it needs */
	wm_text_str(t, needed.sanitizer);
	for (const char *p = list ? list : ""; *p && err == 0;) {
		size_t n = strcspn(p, ",");

		if (n)
			err = add_helper(t, p, n, diag);
		p += n + (p[n] == ',');
	}
	if (err == 0)
		err = add_library(t, RUNTIME, diag);
	if (err == 0 && before && *before) {
		wm_text_char(t, ':');
		wm_text_str(t, before);
	}
	return err < 0 ? err : t->failed ? -ENOMEM : 0;
}

int wm_record_env_check(const char *command, const char *preload, struct wm_diag *diag)
{
	struct wm_text t;
	int err;

	wm_text_init(&t);
	err = preload_value(command, preload, &t, diag);
	wm_text_done(&t);
	return err;
}

int wm_record_env_set(const char *session, const char *command, const char *preload,
		      struct wm_diag *diag)
{
	const char *before = getenv(WM_SESSION_ENV);
	struct wm_text t;
	int err;

	wm_text_init(&t);
	err = preload_value(command, preload, &t, diag);
	if (err == 0 && t.bytes && setenv("LD_PRELOAD", t.data, 1) < 0)
		err = -errno;
	wm_text_cut(&t, 0);
	if (before && *before) {
		wm_text_str(&t, before);
		wm_text_char(&t, ':');
	}
	wm_text_str(&t, session);
	if (err == 0)
		err = t.failed ? -ENOMEM : setenv(WM_SESSION_ENV, t.data, 1) < 0 ? -errno : 0;
	wm_text_done(&t);
	return err;
}
