/* SPDX-License-Identifier: MIT */
/*
 * tool.c - the requesting side of tool.h. The file that names the session is not trusted: it must
 * belong to the user or root, and must be short. The peer's answers are used only as numbers.
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
#include "base/receive.h"
#include "control/session/session.h"

static int read_address(const char *dir, char *path, size_t size, struct wm_diag *diag)
{
	int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *text = NULL, *end;
	size_t bytes = 0;
	int err;

	if (folder < 0)
		return wm_diag_set(diag, -errno, NULL, -1, "cannot open '%s': %s", dir,
				   strerror(errno));
	err = wm_file_read(folder, WM_TOOL_FILE, size - 1, &text, &bytes);
	close(folder);
	if (err == -ENOENT)
		return wm_diag_set(diag, err, NULL, -1, "no recording is writing to '%s' now", dir);
	if (err < 0 && err != -EFBIG)
		return wm_diag_set(diag, err, NULL, -1, "cannot read '%s/%s': %s", dir,
				   WM_TOOL_FILE, strerror(-err));
	end = text ? strchr(text, '\n') : NULL;
	if (!end || text[0] != '/' || end + 1 != text + bytes) {
		free(text);
		return wm_diag_set(
		    diag, -EBADMSG, NULL, -1,
		    "'%s/%s' is damaged: it should have one line, the path of a session; "
		    "stop the recording and start it again",
		    dir, WM_TOOL_FILE);
	}
	*end = '\0';
	memcpy(path, text, bytes);
	free(text);
	return 0;
}

/* Checks that the peer runs as this user or root, because any user can create a session folder. */
static int check_peer(int sock)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0)
		return -errno;
	return peer.uid == 0 || peer.uid == geteuid() || geteuid() == 0 ? 0 : -EPERM;
}

/* Sends one question and receives one answer of exactly that type and size. Returns 0 or -errno. */
static int tool_ask(int sock, const void *question, size_t bytes, uint32_t type, void *ret,
		    size_t size)
{
	struct wm_msg h;
	ssize_t n;

	if (send(sock, question, bytes, MSG_NOSIGNAL) < 0)
		return -errno;
	n = wm_receive(sock, ret, size, 0);
	if (n < 0)
		return (int)n;
	if (n == 0)
		return -EPERM; /* the recorder closed the connection without answering */
	memcpy(&h, ret, sizeof(h));
	return n == (ssize_t)size && h.type == type && h.bytes == size ? 0 : -EBADMSG;
}

/* Connects to the recorder that writes to `dir`. Returns a socket, or -errno with diag. */
static int reach(const char *dir, struct wm_diag *diag)
{
	char path[WM_SESSION_PATH_MAX];
	int sock, err = read_address(dir, path, sizeof(path), diag);

	if (err < 0)
		return err;
	sock = wm_session_connect(path);
	if (sock < 0)
		return wm_diag_set(diag, sock == -ECONNREFUSED ? -ENOENT : sock, NULL, -1,
				   "cannot reach the recorder of '%s': %s", dir, strerror(-sock));
	err = check_peer(sock);
	if (err == 0)
		return sock;
	close(sock);
	return wm_diag_set(diag, err, NULL, -1, "the recorder of '%s' belongs to another user",
			   dir);
}

int wm_tool_ask(const char *dir, const void *question, size_t bytes, uint32_t type, void *ret,
		size_t size, struct wm_diag *diag)
{
	int sock = reach(dir, diag), err;

	if (sock < 0)
		return sock;
	err = tool_ask(sock, question, bytes, type, ret, size);
	close(sock);
	return err ? wm_diag_set(diag, err, NULL, -1, "the recorder of '%s' did not answer: %s",
				 dir, strerror(-err))
		   : 0;
}

int wm_tool_snapshot(const char *dir, struct wm_msg_snapshot *ret, struct wm_diag *diag)
{
	const struct wm_msg question = {.type = WM_MSG_SNAPSHOT, .bytes = sizeof(question)};
	struct wm_msg_snapshot answer;
	int sock = reach(dir, diag), err;

	if (sock < 0)
		return sock;
	err = tool_ask(sock, &question, sizeof(question), WM_MSG_SNAPSHOT_DONE, &answer,
		       sizeof(answer));
	close(sock);
	if (err == 0 && answer.err < 0)
		err = answer.err;
	if (err < 0)
		return wm_diag_set(diag, err, NULL, -1, "the recorder of '%s' took no snapshot: %s",
				   dir, strerror(-err));
	*ret = answer;
	return 0;
}

/* Encodes the question as one packet, which the caller frees. */
static struct wm_msg_change *encode_change(const struct wm_rules *rules, struct wm_diag *diag)
{
	size_t bytes = sizeof(struct wm_msg_change) + wm_rules_encode(rules, NULL, 0);
	struct wm_msg_change *question = malloc(bytes);

	if (!question)
		return NULL;
	if (bytes > WM_MSG_MAX) {
		(void)wm_diag_set(
		    diag, -E2BIG, NULL, -1,
		    "these rules and their filters take %zu bytes, at most %u fit into "
		    "one change: split it",
		    bytes, WM_MSG_MAX);
		free(question);
		return NULL;
	}
	*question = (struct wm_msg_change){
	    .h = {.type = WM_MSG_CHANGE, .bytes = (uint32_t)bytes},
	    .nr_rules = wm_rules_count(rules),
	};
	(void)wm_rules_encode(rules, question + 1, bytes - sizeof(*question));
	return question;
}

int wm_tool_change(const char *dir, const struct wm_rules *rules, struct wm_msg_changed *ret,
		   struct wm_diag *diag)
{
	struct wm_msg_change *question = encode_change(rules, diag);
	struct wm_msg_changed answer;
	int sock, err;

	if (!question)
		return diag && diag->sentence[0] ? -E2BIG : -ENOMEM;
	sock = reach(dir, diag);
	err = sock < 0 ? sock
		       : tool_ask(sock, question, question->h.bytes, WM_MSG_CHANGED, &answer,
				  sizeof(answer));
	free(question);
	if (sock < 0)
		return sock;
	close(sock);
	if (err == 0 && answer.err < 0)
		err = answer.err;
	if (err < 0)
		return wm_diag_set(
		    diag, err, NULL, -1, "the recorder of '%s' did not change its events: %s", dir,
		    err == -E2BIG ? "too many rules have accumulated; start a new recording"
				  : strerror(-err));
	*ret = answer;
	return 0;
}
