/* SPDX-License-Identifier: MIT */
/*
 * environment.c - builds CMD's environment: the session, and the libraries to preload. The
 * libraries are taken from the folder that contains waymark's own file, a build folder or an
 * installed prefix, so that an old installation is never mixed with a new one. See recorder.h and
 * recorder_int.h.
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
#include "control/recorder/recorder_int.h"
#include "elf/elf_file.h"
#include "runtime/agent.h"

#define RUNTIME "libwaymark-rt.so.0"

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#else
#define MULTIARCH "aarch64-linux-gnu"
#endif

static const char *const helpers[] = {"malloc", "pthread", "func"};

/*
 * Where the libraries are, relative to the folder of the running file: the command in the build
 * folder or PREFIX/bin, or libwaymark.so in the build folder or PREFIX/lib. Installed helpers have
 * their own folder below lib.
 */
static const char *const runtime_places[] = {"", "/../lib", "/../lib/" MULTIARCH, "/../lib64",
					     NULL};
static const char *const helper_places[] = {
    "/waymark", "", "/../lib/waymark", "/../lib/" MULTIARCH "/waymark", "/../lib64/waymark", NULL};

/*
 * Finds one of waymark's libraries: the first file that exists. Returns -ENOENT if there is none.
 */
static int find_library(const char *own, const char *const *places, const char *name, char *buf,
			size_t size)
{
	char real[PATH_MAX], whole[PATH_MAX];

	for (size_t i = 0; places[i]; i++) {
		int n = snprintf(whole, sizeof(whole), "%s%s/%s", own, places[i], name);

		if (n < 0 || (size_t)n >= sizeof(whole) || access(whole, R_OK) < 0)
			continue;
		if (!realpath(whole, real))
			return -errno;
		/*
		 * Not the symlink's target, because the loader identifies the library by its name.
		 */
		return snprintf(buf, size, "%s", whole) < (int)size ? 0 : -ENAMETOOLONG;
	}
	return -ENOENT;
}

static int add_library(struct wm_text *t, const char *own, const char *const *places,
		       const char *name, struct wm_diag *diag)
{
	char path[PATH_MAX];
	int err = find_library(own, places, name, path, sizeof(path));

	if (err < 0)
		return wm_diag_set(diag, err, NULL, -1,
				   "cannot find %s in '%.150s' or its ../lib: %s", name, own,
				   strerror(-err));
	if (strpbrk(path, " :"))
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "cannot preload '%s': its folder's name has a space or "
				   "colon; move waymark elsewhere",
				   path);
	if (t->bytes)
		wm_text_char(t, ':');
	wm_text_str(t, path);
	return 0;
}

static int add_helper(struct wm_text *t, const char *own, const char *name, size_t bytes,
		      struct wm_diag *diag)
{
	char file[64];

	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++) {
		if (bytes != strlen(helpers[i]) || strncmp(name, helpers[i], bytes))
			continue;
		(void)snprintf(file, sizeof(file), "libwaymark-%s.so", helpers[i]);
		return add_library(t, own, helper_places, file, diag);
	}
	return wm_diag_set(diag, -EINVAL, NULL, -1,
			   "--preload: unknown helper '%.*s'; use malloc, pthread or func",
			   (int)bytes, name);
}

/* Calls fn for each library that the file itself needs (DT_NEEDED). */
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
	char sanitizer[64]; /* "": the program uses no sanitizer */
};

static void note_needed(const char *name, void *data)
{
	struct needed *n = data;

	if (!strcmp(name, RUNTIME))
		n->runtime = true;
	else if (!strncmp(name, "libasan.so", 10) || !strncmp(name, "libtsan.so", 10))
		(void)snprintf(n->sanitizer, sizeof(n->sanitizer), "%s", name);
}

static struct needed needed_by(const struct wm_recorder_plan *plan)
{
	struct needed n = {0};
	struct wm_elf *elf = NULL;
	char *path = wm_program_find(plan->command[0], plan->search);

	if (path && wm_elf_open(path, &elf, NULL) == 0)
		each_needed(elf, note_needed, &n);
	wm_elf_close(elf);
	free(path);
	return n;
}

/* A variable's value in an environment; NULL if it is not set. */
static const char *environment_variable(char *const *environment, const char *name)
{
	size_t n = strlen(name);

	for (; *environment; environment++)
		if (!strncmp(*environment, name, n) && (*environment)[n] == '=')
			return *environment + n + 1;
	return NULL;
}

bool wm_recorder_needs_programs(const struct wm_recorder_plan *plan)
{
	const struct wm_recorder_events *e = plan->events;
	/* If no event was named, all program events are recorded, unless another source is. */
	bool needed = plan->counts || (!plan->nr_asked && !wm_recorder_events_more(e));

	for (uint32_t i = 0; i < plan->nr_asked; i++)
		needed |= !e->in_kernel[i];
	return needed;
}

/*
 * Builds the value of $LD_PRELOAD: helpers, the runtime, the previous value. A sanitizer must be
 * the first library, so it is put in front.
 */
static int preload_value(const struct wm_recorder_plan *plan, struct wm_text *t,
			 struct wm_diag *diag)
{
	const char *before = environment_variable(plan->environment, "LD_PRELOAD"),
		   *list = plan->preload;
	struct needed needed;
	int err = 0;

	if ((list && !strcmp(list, "none")) || wm_recorder_is_narrow(plan) ||
	    (!list && !wm_recorder_needs_programs(plan)))
		return 0;
	needed = needed_by(plan);
	if (needed.sanitizer[0] && needed.runtime && (!list || !*list))
		return 0; /* the program already links the runtime */
	wm_text_str(t, needed.sanitizer);
	for (const char *p = list ? list : ""; *p && err == 0;) {
		size_t n = strcspn(p, ",");

		if (n)
			err = add_helper(t, plan->folder, p, n, diag);
		p += n + (p[n] == ',');
	}
	if (err == 0)
		err = add_library(t, plan->folder, runtime_places, RUNTIME, diag);
	if (err == 0 && before && *before) {
		wm_text_char(t, ':');
		wm_text_str(t, before);
	}
	return err < 0 ? err : t->failed ? -ENOMEM : 0;
}

/* Builds the value of $WAYMARK_SESSION: the previous sessions and this one. */
static int session_value(const struct wm_recorder_plan *plan, const char *session,
			 struct wm_text *t)
{
	const char *before = environment_variable(plan->environment, WM_SESSION_ENV);

	if (before && *before) {
		wm_text_str(t, before);
		wm_text_char(t, ':');
	}
	wm_text_str(t, session);
	return t->failed ? -ENOMEM : 0;
}

/* --- the complete environment ----------------------------------------------------------- */

static bool is_replaced(const char *entry)
{
	return !strncmp(entry, "LD_PRELOAD=", strlen("LD_PRELOAD=")) ||
	       !strncmp(entry, WM_SESSION_ENV "=", strlen(WM_SESSION_ENV "="));
}

void wm_recorder_env_free(char **environment)
{
	for (char **p = environment; p && *p; p++)
		free(*p);
	free(environment);
}

/* Appends "NAME=VALUE"; without a value, the previous one is kept. */
static int environment_put(char **to, const char *name, const char *value, const char *before)
{
	if (!value || !*value)
		value = before;
	if (!value)
		return 0;
	return asprintf(to, "%s=%s", name, value) < 0 ? (*to = NULL, -ENOMEM) : 1;
}

static int copy_environment(char *const *from, const char *preload, const char *session,
			    char ***ret)
{
	const char *before = environment_variable(from, "LD_PRELOAD");
	size_t nr = 0, at = 0;
	char **to;
	int put_in = 0;

	while (from[nr])
		nr++;
	to = calloc(nr + 3, sizeof(char *));
	for (size_t i = 0; to && i < nr && put_in >= 0; i++) {
		if (is_replaced(from[i]))
			continue;
		to[at] = strdup(from[i]);
		put_in = to[at++] ? 0 : -ENOMEM;
	}
	if (to && put_in >= 0)
		put_in = environment_put(&to[at], "LD_PRELOAD", preload, before);
	if (to && put_in >= 0)
		put_in = environment_put(&to[at + (size_t)put_in], WM_SESSION_ENV, session, NULL);
	if (!to || put_in < 0) {
		wm_recorder_env_free(to);
		return -ENOMEM;
	}
	*ret = to;
	return 0;
}

int wm_recorder_env_make(const struct wm_recorder_plan *plan, const char *session, char ***ret,
			 struct wm_diag *diag)
{
	struct wm_text preload, sessions;
	int err;

	wm_text_init(&preload);
	wm_text_init(&sessions);
	err = preload_value(plan, &preload, diag);
	if (!err)
		err = session_value(plan, session, &sessions);
	if (!err)
		err = copy_environment(plan->environment, preload.data, sessions.data, ret);
	wm_text_done(&preload);
	wm_text_done(&sessions);
	return err;
}

int wm_recorder_own_folder(char *buf, size_t size)
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
