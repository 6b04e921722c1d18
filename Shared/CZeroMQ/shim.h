// libzmq 4.3.4, stable API only. The calls of the hot path are wrapped so that the error travels in the
// result (-errno) and nothing that Swift does between the call and the look can overwrite it.
#pragma once
#include <errno.h>
#include <zmq.h>

static const int mesh_eterm = ETERM;
// Every build of the library has the option; the header shows its name with drafts only.
static const int mesh_zap_enforce_domain = 93;

static inline int mesh_recv(zmq_msg_t *message, void *socket) {
    int rc = zmq_msg_recv(message, socket, ZMQ_DONTWAIT);
    return rc < 0 ? -zmq_errno() : rc;
}

// Copies the bytes into a message of libzmq's own.
static inline int mesh_send_bytes(void *socket, const void *bytes, size_t count, int more) {
    int rc = zmq_send(socket, bytes, count, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0));
    return rc < 0 ? -zmq_errno() : rc;
}

// ZMQ_EVENTS as a bit set, or -errno. Reading it also runs the socket's pending internal commands.
static inline int mesh_events(void *socket) {
    int events = 0;
    size_t size = sizeof events;
    int rc = zmq_getsockopt(socket, ZMQ_EVENTS, &events, &size);
    return rc < 0 ? -zmq_errno() : events;
}

static inline int mesh_set_int(void *socket, int option, int value) {
    int rc = zmq_setsockopt(socket, option, &value, sizeof value);
    return rc < 0 ? -zmq_errno() : 0;
}
