// What Glibc's Swift module does not export.
//
// Deliberately includes nothing that defines types of general use (timespec, pollfd, sockaddr…): Swift would take this
// module for their home, and files that import Glibc alone would no longer see their members.
#pragma once
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

// ppoll(2), which glibc declares under _GNU_SOURCE only.
extern int linux_ppoll(void *entries, unsigned long count, const void *limit, const void *mask) __asm__("ppoll");

// poll(2) over an array of struct pollfd, with a limit in nanoseconds; a negative limit waits for ever.
// Returns the number of ready entries or -errno.
static inline int linux_poll(void *entries, unsigned long count, long limit) {
    struct { long seconds, nanoseconds; } wait = {limit / 1000000000, limit % 1000000000};
    int rc = linux_ppoll(entries, count, limit < 0 ? (void *)0 : &wait, (void *)0);
    return rc < 0 ? -errno : rc;
}

// prctl(2) is variadic, which Swift does not import.
static inline int linux_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }
static inline int linux_die_with_parent(int signal) { return prctl(PR_SET_PDEATHSIG, (unsigned long)signal, 0, 0, 0); }

// posix_spawn extras, which glibc too declares under _GNU_SOURCE only. `actions` is a posix_spawn_file_actions_t.
extern int linux_spawn_close_from(void *actions, int descriptor) __asm__("posix_spawn_file_actions_addclosefrom_np");
enum { linux_spawn_new_session = 0x80 };  // POSIX_SPAWN_SETSID
