// What a supervisor of processes needs beyond Glibc's Swift module.
#pragma once
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

// Declared here because glibc does so under _GNU_SOURCE only, which Swift's own module of it is built without.
extern int pipe2(int ends[2], int flags);
extern long syscall(long number, ...);

// A descriptor that tells of SIGTERM, SIGINT and SIGHUP, which are blocked for this thread and those it makes from now
// on. Returns the descriptor (non-blocking, closed on exec) or -errno.
static inline int linux_stop_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, (sigset_t *)0) < 0) return -errno;
    int descriptor = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

// From now on no program that this process executes gets rights by its file (PR_SET_NO_NEW_PRIVS). 0, or -errno.
static inline int linux_renounce_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

// After a change of its user: lets the process, and its user, read its files in /proc again (PR_SET_DUMPABLE).
static inline void linux_show_own_process(void) { prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }

// A descriptor that becomes readable when the process ends (pidfd_open(2), Linux 5.3), closed on exec; or -errno.
static inline int linux_process_descriptor(int pid) {
    long descriptor = syscall(SYS_pidfd_open, pid, 0);
    return descriptor < 0 ? -errno : (int)descriptor;
}

// How a process ended, from waitpid's status: its exit code, or minus the signal that killed it.
static inline int linux_exit_of(int status) { return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status); }

// Whether the kernel believes that its clock is disciplined (adjtimex(2)).
static inline int linux_clock_is_synchronised(void) {
    struct timex state = {.modes = 0};
    return adjtimex(&state) != TIME_ERROR;
}

// Blocks of at least so many bytes come from the system and go back to it when they are freed. Left alone, glibc raises
// this size to that of the largest block that was freed (up to 32 MiB) and keeps what is smaller for itself.
static inline void linux_return_blocks_from(int bytes) { mallopt(M_MMAP_THRESHOLD, bytes); }

// Bytes that malloc has given out and not got back.
static inline size_t linux_allocated_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// Gives every free whole page of malloc's arenas back to the system.
static inline void linux_return_freed_memory(void) { malloc_trim(0); }
