/* SPDX-License-Identifier: MIT */
/*
 * tool.c - the asking side of tool.h. The file that names the session is a
 * stranger's until proven ours: it must belong to us or root and be short;
 * what answers at the socket is only believed about numbers.
 */
#include "control/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "control/session.h"

static int read_address(const char *dir, char *path, size_t size, struct wm_diag *diag)
{
	int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *text = NULL, *end;
	size_t bytes;
	int err;

	if (folder < 0)
		return wm_diag_set(diag, -errno, NULL, -1, "cannot open '%s': %s", dir,
				   strerror(errno));
	err = wm_file_read(folder, WM_TOOL_FILE, size - 1, &text, &bytes);
	close(folder);
	if (err < 0)
		return wm_diag_set(diag, err, NULL, -1, "nobody records to '%s' now", dir);
	end = strchr(text, '\n');
	if (!end || text[0] != '/' || end + 1 != text + bytes) {
		free(text);
		return wm_diag_set(diag, -EBADMSG, NULL, -1, "'%s/%s' names no session", dir,
				   WM_TOOL_FILE);
	}
	*end = '\0';
	memcpy(path, text, bytes);
	free(text);
	return 0;
}

/* Whoever answers must be us or root: a session folder could be anybody's. */
static int check_peer(int sock)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0)
		return -errno;
	return peer.uid == 0 || peer.uid == geteuid() || geteuid() == 0 ? 0 : -EPERM;
}

static int ask(int sock, struct wm_msg_snapshot *ret)
{
	const struct wm_msg question = {.type = WM_MSG_SNAPSHOT, .bytes = sizeof(question)};
	struct wm_msg_snapshot answer;
	ssize_t n;

	if (send(sock, &question, sizeof(question), MSG_NOSIGNAL) < 0)
		return -errno;
	do {
		n = recv(sock, &answer, sizeof(answer), 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n == 0)
		return -EPERM; /* closed without an answer */
	if (n != (ssize_t)sizeof(answer) || answer.h.type != WM_MSG_SNAPSHOT_DONE ||
	    answer.h.bytes != sizeof(answer))
		return -EBADMSG;
	*ret = answer;
	return answer.err < 0 ? answer.err : 0;
}

int wm_tool_snapshot(const char *dir, struct wm_msg_snapshot *ret, struct wm_diag *diag)
{
	char path[WM_SESSION_PATH_MAX];
	int sock, err;

	err = read_address(dir, path, sizeof(path), diag);
	if (err < 0)
		return err;
	sock = wm_session_connect(path);
	if (sock < 0)
		return wm_diag_set(diag, sock == -ECONNREFUSED ? -ENOENT : sock, NULL, -1,
				   "the recorder of '%s' cannot be reached: %s", dir,
				   strerror(-sock));
	err = check_peer(sock);
	if (err == 0)
		err = ask(sock, ret);
	close(sock);
	if (err < 0)
		(void)wm_diag_set(diag, err, NULL, -1, "the recorder of '%s' gave no snapshot: %s",
				  dir, strerror(-err));
	return err;
}
