#include "services.h"
#include <arpa/nameser.h>
#include <netdb.h>
#include <resolv.h>

// In front of an SRV record's target: priority, weight and port, two bytes each.
enum { port_offset = 4, target_offset = 6 };

// Writes an answer's SRV records, as resolver_services returns them.
static int read_services(const unsigned char *answer, int length, struct resolver_service *services, int capacity) {
    ns_msg message;
    if (ns_initparse(answer, length, &message) < 0) return -resolver_malformed;
    int count = 0;
    for (int index = 0; index < ns_msg_count(message, ns_s_an); index++) {
        ns_rr record;
        if (ns_parserr(&message, ns_s_an, index, &record) < 0) return -resolver_malformed;
        if (ns_rr_type(record) != ns_t_srv) continue;  // an alias on the way
        if (ns_rr_rdlen(record) <= target_offset) return -resolver_malformed;
        if (count == capacity) return -resolver_too_many;
        struct resolver_service *service = &services[count++];
        service->port = ns_get16(ns_rr_rdata(record) + port_offset);
        const unsigned char *target = ns_rr_rdata(record) + target_offset;
        if (dn_expand(answer, answer + length, target, service->target, sizeof service->target) < 0)
            return -resolver_malformed;
    }
    return count;
}

int resolver_services(const char *name, struct resolver_service *services, int capacity) {
    struct __res_state state = {0};
    if (res_ninit(&state) < 0) return -NO_RECOVERY;
    unsigned char answer[NS_MAXMSG];
    int length = res_nsearch(&state, name, ns_c_in, ns_t_srv, answer, sizeof answer);
    int error = state.res_h_errno;
    res_nclose(&state);
    if (length < 0) return -error;
    return read_services(answer, length, services, capacity);
}
