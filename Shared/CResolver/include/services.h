// SRV records by the system's resolver, of which Glibc's Swift module has neither the queries nor the parser.
#pragma once
#include <stdint.h>

struct resolver_service {
    uint16_t port;
    // The host, without a dot at its end; empty for "not available here" (RFC 2782).
    char target[256];
};

// Codes of resolver_services beyond those of h_errno.
enum { resolver_malformed = 5, resolver_too_many = 6 };

// Asks for a name's SRV records as getaddrinfo(3) does for addresses: with the servers and search domains of
// /etc/resolv.conf. Blocks, perhaps for many seconds.
// Returns how many of them were written, or a negative code: one of h_errno's (netdb.h) or of the above.
int resolver_services(const char *name, struct resolver_service *services, int capacity);
