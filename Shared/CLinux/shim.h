// What Glibc's Swift module does not export.
#pragma once
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// Declared here because glibc does so under _GNU_SOURCE only, which Swift's own module of it is built without.
extern int ppoll(struct pollfd *entries, nfds_t count, const struct timespec *limit, const sigset_t *mask);

// poll(2) with a limit in nanoseconds; a negative limit waits for ever. Returns the number of ready entries or -errno.
static inline int linux_poll(struct pollfd *entries, unsigned long count, int64_t limit) {
    struct timespec wait = {.tv_sec = limit / 1000000000, .tv_nsec = limit % 1000000000};
    int rc = ppoll(entries, count, limit < 0 ? (struct timespec *)0 : &wait, (const sigset_t *)0);
    return rc < 0 ? -errno : rc;
}

// Fills a local socket address; 0, or -ENAMETOOLONG when the path and its NUL do not fit.
static inline int linux_local_address(struct sockaddr_un *address, const char *path, unsigned long length) {
    if (length == 0 || length >= sizeof address->sun_path) return -ENAMETOOLONG;
    __builtin_memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    __builtin_memcpy(address->sun_path, path, length);
    return 0;
}

static inline int linux_bind_local(int descriptor, const char *path, unsigned long length) {
    struct sockaddr_un address;
    int rc = linux_local_address(&address, path, length);
    if (rc != 0) return rc;
    return bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
}

static inline int linux_connect_local(int descriptor, const char *path, unsigned long length) {
    struct sockaddr_un address;
    int rc = linux_local_address(&address, path, length);
    if (rc != 0) return rc;
    return connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
}

// prctl(2) is variadic, which Swift does not import.
static inline int linux_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }
static inline int linux_die_with_parent(int signal) { return prctl(PR_SET_PDEATHSIG, (unsigned long)signal, 0, 0, 0); }
