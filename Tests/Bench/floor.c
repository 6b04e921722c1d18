// The floor of the pipeline: its processes and hops with nothing in them, for bench --plain. No rule, queue, limit or reader
// of JSON; what came in one turn leaves in one message, as in the pipeline.
//
//   apps ⇄ gateway ──previews──► coalescer ──► fan-out ──► gateway ⇄ apps
//             └─────commits────► committer ──► fan-out        PostgreSQL: one INSERT for what came together
//
//   cc -O2 -I/usr/include/postgresql -o floor Tests/Bench/floor.c -lzmq -lpq
//   floor PORT [CONNINFO [PAUSE]]    prints --pid NAME=PID for each process; ends with its standard input
//
// PAUSE: microseconds between two messages of previews; without it each turn of the gateway's loop sends one.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

static void fail(const char *what) { perror(what); exit(1); }

// Bytes that grow

struct bytes { uint8_t *at; size_t count, space; };

static void append(struct bytes *to, const void *from, size_t count) {
    if (to->count + count > to->space) {
        to->space = (to->count + count) * 2;
        to->at = realloc(to->at, to->space);
        if (!to->at) fail("realloc");
    }
    memcpy(to->at + to->count, from, count);
    to->count += count;
}

// Records on links: a head, and an app's JSON as it came

enum kind { PREVIEW, COMMIT, RESULT };
struct head { uint32_t kind, client, ack, count; };

static void record(struct bytes *to, enum kind kind, uint32_t client, uint32_t ack, const void *json, size_t count) {
    struct head head = {kind, client, ack, count};
    append(to, &head, sizeof head);
    append(to, json, count);
}

// Links

static void *context;
static char folder[] = "/tmp/floor-XXXXXX";

static void *link_to(const char *stage, int type, const char *name) {
    void *socket = zmq_socket(context, type);
    char address[256];
    int none = 0, linger = 0;
    snprintf(address, sizeof address, "ipc://%s/%s", folder, stage);
    zmq_setsockopt(socket, ZMQ_SNDHWM, &none, sizeof none);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &none, sizeof none);
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    if (name) zmq_setsockopt(socket, ZMQ_ROUTING_ID, name, strlen(name));
    if ((type == ZMQ_ROUTER ? zmq_bind : zmq_connect)(socket, address)) fail(address);
    return socket;
}

// Sends what was gathered as one message, to the gateway if the link leads there by a router.
static void flush(void *link, struct bytes *what, int to_gateway) {
    if (!what->count) return;
    if (to_gateway) zmq_send(link, "gateway", 7, ZMQ_SNDMORE);
    zmq_send(link, what->at, what->count, 0);
    what->count = 0;
}

// A message's body; its sender's name is skipped. False when none is there.
static int receive(void *link, zmq_msg_t *message) {
    do {
        if (zmq_msg_recv(message, link, ZMQ_DONTWAIT) < 0) return 0;
    } while (zmq_msg_more(message));
    return 1;
}

// The stages between

static void wait_for(void *link) {
    zmq_pollitem_t item = {link, 0, ZMQ_POLLIN, 0};
    zmq_poll(&item, 1, -1);
}

static void forward(const char *stage, const char *next) {
    void *in = link_to(stage, ZMQ_ROUTER, NULL), *out = next ? link_to(next, ZMQ_DEALER, stage) : in;
    struct bytes gathered = {0};
    zmq_msg_t message;
    zmq_msg_init(&message);
    for (;;) {
        wait_for(in);
        while (receive(in, &message)) append(&gathered, zmq_msg_data(&message), zmq_msg_size(&message));
        flush(out, &gathered, next == NULL);
    }
}

static void commit(const char *conninfo) {
    void *in = link_to("committer", ZMQ_ROUTER, NULL), *out = link_to("fanout", ZMQ_DEALER, "committer");
    PGconn *database = PQconnectdb(conninfo);
    if (PQstatus(database) != CONNECTION_OK) { fputs(PQerrorMessage(database), stderr); exit(1); }
    PQclear(PQexec(database, "CREATE TABLE IF NOT EXISTS floor (n bigserial PRIMARY KEY, body text)"));
    PQclear(PQprepare(database, "log", "INSERT INTO floor (body) SELECT unnest($1::text[])", 1, NULL));
    struct bytes gathered = {0}, results = {0}, bodies = {0};
    zmq_msg_t message;
    zmq_msg_init(&message);
    for (;;) {
        wait_for(in);
        while (receive(in, &message)) append(&gathered, zmq_msg_data(&message), zmq_msg_size(&message));
        append(&bodies, "{", 1);
        for (size_t at = 0; at < gathered.count;) {
            struct head *head = (struct head *)(gathered.at + at);
            const uint8_t *json = (uint8_t *)(head + 1);
            record(&results, RESULT, head->client, head->ack, "", 0);
            append(&bodies, bodies.count > 1 ? ",\"" : "\"", bodies.count > 1 ? 2 : 1);
            for (size_t i = 0; i < head->count; i++) {
                if (json[i] == '"' || json[i] == '\\') append(&bodies, "\\", 1);
                append(&bodies, json + i, 1);
            }
            append(&bodies, "\"", 1);
            at += sizeof *head + head->count;
        }
        append(&bodies, "}", 2);
        PGresult *done = PQexecPrepared(database, "log", 1, (const char *[]){(char *)bodies.at}, NULL, NULL, 0);
        if (PQresultStatus(done) != PGRES_COMMAND_OK) { fputs(PQerrorMessage(database), stderr); exit(1); }
        PQclear(done);
        bodies.count = 0;
        flush(in, &results, 1);
        flush(out, &gathered, 0);
    }
}

// The gateway

struct client { int fd, is_open; uint32_t room; struct bytes in, out; };

static struct client clients[65536];
static struct { char name[64]; uint32_t members[1100]; int count; } rooms[1100];
static uint32_t room_count;
static uint32_t unsent[65536];
static int unsent_count;

static uint32_t room_named(const char *name, size_t length) {
    for (uint32_t room = 0; room < room_count; room++)
        if (!strncmp(rooms[room].name, name, length) && !rooms[room].name[length]) return room;
    memcpy(rooms[room_count].name, name, length);
    return room_count++;
}

// Adds a text frame of up to three pieces to what leaves for an app in this turn.
static void say(uint32_t number, const char *start, const void *text, size_t count, const char *end) {
    struct client *client = &clients[number];
    size_t length = strlen(start) + count + strlen(end);
    uint8_t head[4] = {0x81, length < 126 ? length : 126, length >> 8, length};
    if (client->fd < 0) return;
    if (!client->out.count) unsent[unsent_count++] = number;
    append(&client->out, head, length < 126 ? 2 : 4);
    append(&client->out, start, strlen(start));
    append(&client->out, text, count);
    append(&client->out, end, strlen(end));
}

static void event(uint32_t number, const char *text, size_t count, struct bytes *previews, struct bytes *commits) {
    static const char JOIN[] = "[\"room:join\"", MOVING[] = "[\"element:transforming\"", MOVE[] = "[\"element:transform\"";
    char *json;
    char ack_text[32];
    uint32_t ack = 0;
    if (count >= 2 && !memcmp(text, "40", 2)) return say(number, "40{\"sid\":\"s\"}", "", 0, "");
    if (count < 3 || memcmp(text, "42", 2)) return;
    ack = strtoul(text + 2, &json, 10);
    count -= json - text;
    if (count > sizeof MOVING && !memcmp(json, MOVING, sizeof MOVING - 1))
        return record(previews, PREVIEW, number, 0, json, count);
    if (count > sizeof MOVE && !memcmp(json, MOVE, sizeof MOVE - 1)) {
        const char *rest = json + sizeof MOVE - 1;
        return record(commits, COMMIT, number, ack, rest, count - (rest - json));
    }
    if (count > sizeof JOIN && !memcmp(json, JOIN, sizeof JOIN - 1)) {
        const char *name = memmem(json, count, "\"roomId\":\"", 10);
        if (!name) return;
        name += 10;
        uint32_t room = room_named(name, (char *)memchr(name, '"', json + count - name) - name);
        clients[number].room = room;
        rooms[room].members[rooms[room].count++] = number;
    }
    say(number, "43", ack_text, snprintf(ack_text, sizeof ack_text, "%u", ack), "[{\"ok\":true}]");
}

static void deliver(const uint8_t *records, size_t count) {
    char ack_text[32];
    for (size_t at = 0; at < count;) {
        struct head head;
        memcpy(&head, records + at, sizeof head);
        const uint8_t *json = records + at + sizeof head;
        at += sizeof head + head.count;
        if (head.kind == RESULT) {
            say(head.client, "43", ack_text, snprintf(ack_text, sizeof ack_text, "%u", head.ack), "[{\"ok\":true}]");
            continue;
        }
        uint32_t room = clients[head.client].room;
        for (int i = 0; i < rooms[room].count; i++) {
            uint32_t member = rooms[room].members[i];
            if (head.kind == COMMIT) say(member, "42[\"element:transformed\"", json, head.count, "");
            else if (member != head.client) say(member, "42", json, head.count, "");
        }
    }
}

// Takes whole frames out of what an app sent.
static void parse(uint32_t number, struct bytes *previews, struct bytes *commits) {
    struct client *client = &clients[number];
    size_t at = 0;
    if (!client->is_open) {
        static const char ANSWER[] = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
        uint8_t *end = memmem(client->in.at, client->in.count, "\r\n\r\n", 4);
        if (!end) return;
        at = end + 4 - client->in.at;
        client->is_open = 1;
        if (!client->out.count) unsent[unsent_count++] = number;
        append(&client->out, ANSWER, sizeof ANSWER - 1);
        say(number, "0{\"sid\":\"s\",\"upgrades\":[],\"pingInterval\":25000,\"pingTimeout\":20000,\"maxPayload\":65536}", "", 0, "");
    }
    while (client->in.count - at >= 6) {
        uint8_t *frame = client->in.at + at;
        size_t length = frame[1] & 127, head = 6;
        if (length == 126) {
            if (client->in.count - at < 8) break;
            length = frame[2] << 8 | frame[3];
            head = 8;
        }
        if (client->in.count - at < head + length) break;
        uint8_t *mask = frame + head - 4, *text = frame + head;
        for (size_t i = 0; i < length; i++) text[i] ^= mask[i & 3];
        if ((frame[0] & 15) == 1) event(number, (char *)text, length, previews, commits);
        at += head + length;
    }
    memmove(client->in.at, client->in.at + at, client->in.count - at);
    client->in.count -= at;
}

static void close_client(uint32_t number) {
    struct client *client = &clients[number];
    uint32_t room = client->room;
    close(client->fd);
    client->fd = -1;
    client->in.count = client->out.count = 0;
    for (int i = 0; i < rooms[room].count; i++)
        if (rooms[room].members[i] == number) rooms[room].members[i--] = rooms[room].members[--rooms[room].count];
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void serve(int port, int64_t pause) {
    int64_t next = 0;
    void *links[] = {
        link_to("coalescer", ZMQ_DEALER, "gateway"), link_to("committer", ZMQ_DEALER, "gateway"),
        link_to("fanout", ZMQ_DEALER, "gateway")};
    struct bytes previews = {0}, commits = {0};
    struct sockaddr_in address = {AF_INET, htons(port), {htonl(INADDR_LOOPBACK)}, {0}};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), loop = epoll_create1(0), yes = 1;
    static uint8_t buffer[65536];
    zmq_msg_t message;
    zmq_msg_init(&message);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1024)) fail("bind");
    epoll_ctl(loop, EPOLL_CTL_ADD, listener, &(struct epoll_event){EPOLLIN, {.u32 = 0}});
    for (int i = 0; i < 3; i++) {
        int fd;
        size_t size = sizeof fd;
        zmq_getsockopt(links[i], ZMQ_FD, &fd, &size);
        epoll_ctl(loop, EPOLL_CTL_ADD, fd, &(struct epoll_event){EPOLLIN | EPOLLET, {.u32 = 1}});
    }
    for (;;) {
        struct epoll_event events[256];
        int64_t rest = pause && previews.count ? next - now() : 0;
        struct timespec wait = {0, rest > 0 ? rest : 0};
        int count = epoll_pwait2(loop, events, 256, previews.count ? &wait : NULL, NULL);
        for (int i = 0; i < count; i++) {
            uint32_t number = events[i].data.u32;
            if (number == 1) continue;
            if (number == 0) {
                for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
                    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
                    clients[fd] = (struct client){.fd = fd, .in = clients[fd].in, .out = clients[fd].out};
                    epoll_ctl(loop, EPOLL_CTL_ADD, fd, &(struct epoll_event){EPOLLIN, {.u32 = fd}});
                }
                continue;
            }
            ssize_t got = recv(number, buffer, sizeof buffer, 0);
            if (got == 0 || (got < 0 && errno != EAGAIN)) { close_client(number); continue; }
            if (got < 0) continue;
            append(&clients[number].in, buffer, got);
            parse(number, &previews, &commits);
        }
        // Also when no link said so: sending may have taken the news of what came.
        if (previews.count && (!pause || now() >= next)) {
            flush(links[0], &previews, 0);
            next = now() + pause;
        }
        flush(links[1], &commits, 0);
        for (int i = 1; i < 3; i++)
            while (receive(links[i], &message)) deliver(zmq_msg_data(&message), zmq_msg_size(&message));
        for (int i = 0; i < unsent_count; i++) {
            struct client *client = &clients[unsent[i]];
            // What the kernel does not take is lost: this is no server.
            if (client->fd >= 0) send(client->fd, client->out.at, client->out.count, MSG_NOSIGNAL);
            client->out.count = 0;
        }
        unsent_count = 0;
    }
}

static void start(const char *name, int stage, int port, const char *conninfo, int64_t pause) {
    int pid = fork();
    if (pid) {
        printf("--pid %s=%d ", name, pid);
        return;
    }
    // With the first process all end.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    context = zmq_ctx_new();
    switch (stage) {
        case 0: forward("coalescer", "fanout"); break;
        case 1: forward("fanout", NULL); break;
        case 2: commit(conninfo); break;
        default: serve(port, pause);
    }
    exit(1);
}

int main(int count, char **arguments) {
    struct rlimit files;
    char rest[64];
    if (count < 2) { fputs("floor PORT [CONNINFO [PAUSE]]\n", stderr); return 64; }
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (!mkdtemp(folder)) fail("mkdtemp");
    setbuf(stdout, NULL);
    start("fanout", 1, 0, NULL, 0);
    start("coalescer", 0, 0, NULL, 0);
    if (count > 2 && *arguments[2]) start("committer", 2, 0, arguments[2], 0);
    start("gateway", 3, atoi(arguments[1]), NULL, count > 3 ? atoll(arguments[3]) * 1000 : 0);
    puts("");
    while (read(0, rest, sizeof rest) > 0) {}
}
