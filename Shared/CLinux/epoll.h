// epoll(7), which Glibc's Swift module leaves out; declared here instead of included, for the reason told in shim.h.
#pragma once
#include <errno.h>
#include <stdint.h>

// struct epoll_event, packed where the kernel's is.
typedef struct {
    uint32_t events;
    uint64_t tag;
}
#ifdef __x86_64__
__attribute__((packed))
#endif
linux_epoll_event;

static const uint32_t linux_epoll_in = 0x1;
static const uint32_t linux_epoll_out = 0x4;
static const uint32_t linux_epoll_error = 0x8;
static const uint32_t linux_epoll_hangup = 0x10;
static const uint32_t linux_epoll_peer_hangup = 0x2000;
static const uint32_t linux_epoll_edges = 1u << 31;

extern int linux_epoll_create1(int flags) __asm__("epoll_create1");
extern int linux_epoll_ctl(int epoll, int operation, int descriptor, void *event) __asm__("epoll_ctl");
extern int linux_epoll_pwait2(int epoll, void *events, int count, const void *limit, const void *mask)
    __asm__("epoll_pwait2");

// A new epoll descriptor, closed on exec; or -errno.
static inline int linux_epoll(void) {
    int descriptor = linux_epoll_create1(02000000 /* EPOLL_CLOEXEC */);
    return descriptor < 0 ? -errno : descriptor;
}

// Watches one descriptor more; it leaves when it is closed. Returns 0 or -errno.
static inline int linux_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t tag) {
    linux_epoll_event event = {events, tag};
    return linux_epoll_ctl(epoll, 1 /* EPOLL_CTL_ADD */, descriptor, &event) < 0 ? -errno : 0;
}

// Waits for events, with a limit in nanoseconds. Returns how many there are, or -errno.
static inline int linux_epoll_wait(int epoll, linux_epoll_event *events, int count, long limit) {
    struct { long seconds, nanoseconds; } wait = {limit / 1000000000, limit % 1000000000};
    int rc = linux_epoll_pwait2(epoll, events, count, &wait, (void *)0);
    return rc < 0 ? -errno : rc;
}
