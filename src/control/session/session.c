/* SPDX-License-Identifier: MIT */
/*
 * session.c - see session.h. All operations inside a folder use its descriptor, which is opened
 * once, without following symlinks, and then checked.
 */
#include "control/session/session.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ID_BYTES       12u
#define ID_DIGITS      (2 * ID_BYTES)
#define SWEEP_MAX      256 /* limit for folders examined when a session begins */
#define NEW_LOCK       ".lock.new"
#define UNLOCKED_AGE_S 60 /* a younger folder without a lock file may still be being created */

static_assert(WM_SESSION_PATH_MAX == sizeof(((struct sockaddr_un *)0)->sun_path), "sun_path");

static mode_t folder_mode(void)
{
	return geteuid() == 0 ? 0711 : 0700;
}

/*
 * Finds the id that a user of this namespace has in the one around it; in the machine's own, it is
 * the same. Returns false if the namespace has no such user.
 */
static bool outer_id(uid_t uid, unsigned long *ret_outer)
{
	FILE *map = fopen("/proc/self/uid_map", "re");
	unsigned long first, outer, count;
	bool found = false;

	while (map && !found && fscanf(map, "%lu %lu %lu", &first, &outer, &count) == 3) {
		found = uid >= first && uid - first < count;
		if (found)
			*ret_outer = outer + (uid - first);
	}
	if (map)
		(void)fclose(map);
	return found;
}

/*
 * Whether an id is that of a user whom this namespace does not have, such as the machine's root in
 * a namespace that an ordinary user made. All of them read as one id, which must not be a real
 * user's here.
 */
static bool is_outside(uid_t uid)
{
	FILE *overflow = fopen("/proc/sys/kernel/overflowuid", "re");
	unsigned long id, outer;
	bool outside =
	    overflow && fscanf(overflow, "%lu", &id) == 1 && id == uid && !outer_id(uid, &outer);

	if (overflow)
		(void)fclose(overflow);
	return outside;
}

/* Whether the parent is a folder in which other users cannot rename this user's files. */
static bool parent_is_safe(const char *path, bool must_be_ours)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return false;
	if (must_be_ours)
		return st.st_uid == geteuid() && !(st.st_mode & 022);
	return (st.st_uid == 0 || st.st_uid == geteuid() || is_outside(st.st_uid)) &&
	       (!(st.st_mode & 022) || (st.st_mode & S_ISVTX));
}

/* Opens PARENT/waymark-UID, creating it if needed. Returns a descriptor or -errno. */
static int open_base(const char *path, struct wm_diag *diag)
{
	struct stat st;
	int fd;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return wm_diag_set(diag, -errno, NULL, -1, "cannot create the folder '%s': %s",
				   path, strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return wm_diag_set(diag, -errno, NULL, -1, "cannot use '%s' as a folder: %s", path,
				   strerror(errno));
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022)) {
		close(fd);
		return wm_diag_set(
		    diag, -EPERM, NULL, -1,
		    "'%s' belongs to another user or is writable by others: "
		    "remove it, or set XDG_RUNTIME_DIR to a folder that only you can write to",
		    path);
	}
	if ((st.st_mode & 07777) != folder_mode() && fchmod(fd, folder_mode()) < 0) {
		int err = -errno;

		close(fd);
		return wm_diag_set(diag, err, NULL, -1, "cannot set the mode of '%s': %s", path,
				   strerror(-err));
	}
	return fd;
}

/* Writes BASE to `out`. Returns 0, or -ENAMETOOLONG if DIR/sock would not fit. */
static int base_path(const char *parent, char *out, size_t size)
{
	unsigned long uid = geteuid();
	int n;

	/* Root of a namespace can meet the folder of the machine's root. */
	(void)outer_id(geteuid(), &uid);
	n = snprintf(out, size, "%s/waymark-%lu", parent, uid);

	if (n < 0 || (size_t)n + 1 + ID_DIGITS + sizeof("/sock") > WM_SESSION_PATH_MAX)
		return -ENAMETOOLONG;
	return strchr(out, ':') ? -EINVAL : 0; /* ':' separates sessions in $WAYMARK_SESSION */
}

static int choose_base(const char *runtime_dir, const char *fallback, char *out, size_t size,
		       struct wm_diag *diag)
{
	int fd, err;

	if (runtime_dir && runtime_dir[0] == '/' && parent_is_safe(runtime_dir, true) &&
	    base_path(runtime_dir, out, size) == 0) {
		fd = open_base(out, diag);
		if (fd >= 0)
			return fd;
	}
	if (!fallback)
		fallback = "/tmp";
	err = base_path(fallback, out, size);
	if (err < 0)
		return wm_diag_set(diag, err, NULL, -1, "'%s' is too long for a socket's name",
				   fallback);
	if (!parent_is_safe(fallback, false))
		return wm_diag_set(diag, -EPERM, NULL, -1,
				   "'%s' is not safe for a session: it must belong to root or "
				   "you, and be sticky if others can write to it",
				   fallback);
	return open_base(out, diag);
}

static void empty_folder(int dirfd)
{
	/* The lock is removed last, because session_sweep() judges a folder by its lock file. */
	static const char *const names[] = {"sock", "rules", ".rules.new", NEW_LOCK, "lock"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlinkat(dirfd, names[i], 0); /* a missing file is not an error */
}

/* Whether no process serves the folder any more. */
static bool is_abandoned(int dirfd)
{
	struct stat st;
	bool free_lock;
	int fd = openat(dirfd, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT && fstat(dirfd, &st) == 0 &&
		       time(NULL) - st.st_mtime > UNLOCKED_AGE_S;
	free_lock = flock(fd, LOCK_EX | LOCK_NB) == 0;
	close(fd);
	return free_lock;
}

static bool is_id(const char *name)
{
	return strlen(name) == ID_DIGITS && strspn(name, "0123456789abcdef") == ID_DIGITS;
}

/*
 * Removes killed recorders' folders. Failures are ignored, because they only cost disk space.
 */
static void session_sweep(int base)
{
	int fd = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (int i = 0; i < SWEEP_MAX && (entry = readdir(dir));) {
		int folder;

		if (!is_id(entry->d_name))
			continue;
		i++;
		folder =
		    openat(base, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (folder < 0)
			continue;
		if (is_abandoned(folder)) {
			empty_folder(folder);
			(void)unlinkat(base, entry->d_name, AT_REMOVEDIR);
		}
		close(folder);
	}
	closedir(dir);
}

static int random_id(char *out)
{
	unsigned char bytes[ID_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/*
 * Creates the lock. It is locked before it gets its final name, so that an unlocked file `lock`
 * belongs to a dead recorder.
 */
static int take_lock(struct wm_session *s)
{
	s->lock_fd = openat(s->dirfd, NEW_LOCK, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (s->lock_fd < 0 || flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0 ||
	    renameat(s->dirfd, NEW_LOCK, s->dirfd, "lock") < 0)
		return -errno;
	return 0;
}

static int session_address_of(const char *path, struct sockaddr_un *ret)
{
	int n;

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/sock", path);
	return n < 0 || (size_t)n >= sizeof(ret->sun_path) ? -ENAMETOOLONG : 0;
}

static int listen_there(struct wm_session *s)
{
	struct sockaddr_un address;
	int err = session_address_of(s->path, &address);

	if (err < 0)
		return err;
	s->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listen_fd < 0)
		return -errno;
	if (bind(s->listen_fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    fchmodat(s->dirfd, "sock", geteuid() == 0 ? 0666 : 0600, 0) < 0 ||
	    listen(s->listen_fd, 4096) < 0)
		return -errno;
	return 0;
}

/* Creates the session's own folder, its lock and its listening socket. */
static int session_make_folder(int base, const char *base_name, struct wm_session *s)
{
	char id[ID_DIGITS + 1];
	int err = random_id(id);

	if (err < 0)
		return err;
	if (mkdirat(base, id, 0700) < 0)
		return -errno;
	(void)snprintf(s->path, sizeof(s->path), "%.*s/%s",
		       (int)(sizeof(s->path) - sizeof(id) - sizeof("/sock")), base_name, id);
	s->dirfd = openat(base, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->dirfd < 0) {
		err = -errno;
		(void)unlinkat(base, id, AT_REMOVEDIR);
		return err;
	}
	if (fchmod(s->dirfd, folder_mode()) < 0)
		return -errno;
	err = take_lock(s);
	return err < 0 ? err : listen_there(s);
}

int wm_session_create(const char *runtime_dir, const char *fallback, struct wm_session *ret,
		      struct wm_diag *diag)
{
	struct wm_session s = {.dirfd = -1, .listen_fd = -1, .lock_fd = -1};
	char base_name[WM_SESSION_PATH_MAX];
	int base, err;

	base = choose_base(runtime_dir, fallback, base_name, sizeof(base_name), diag);
	if (base < 0)
		return base;
	session_sweep(base);
	s.file_mode = geteuid() == 0 ? 0644 : 0600;
	err = session_make_folder(base, base_name, &s);
	close(base);
	if (err < 0) {
		wm_session_remove(&s);
		wm_session_done(&s);
		return wm_diag_set(diag, err, NULL, -1, "cannot create a session in '%s': %s",
				   base_name, strerror(-err));
	}
	*ret = s;
	return 0;
}

void wm_session_remove(struct wm_session *s)
{
	if (s->dirfd < 0)
		return;
	empty_folder(s->dirfd);
	(void)rmdir(s->path); /* already removed, or contains a foreign file: ignored */
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void wm_session_done(struct wm_session *s)
{
	close_one(&s->listen_fd);
	close_one(&s->lock_fd);
	close_one(&s->dirfd);
}

int wm_session_connect(const char *path)
{
	struct sockaddr_un address;
	int fd, err = session_address_of(path, &address);

	if (err < 0)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}
