#include "client.h"

static const unsigned char source[] = {
#embed "../web/touchsync.js"
};
static const unsigned char module[] = {
#embed "../served/touchsync.min.js"
};
static const unsigned char compressed_module[] = {
#embed "../served/touchsync.min.js.gz"
};
static const unsigned char source_map[] = {
#embed "../served/touchsync.min.js.map"
};
static const unsigned char projection[] = {
#embed "../served/projection.min.js"
};
static const unsigned char store[] = {
#embed "../served/store.min.js"
};
static const unsigned char react[] = {
#embed "../served/react.min.js"
};
static const unsigned char types[] = {
#embed "../types/touchsync.d.ts"
};
static const unsigned char projection_types[] = {
#embed "../types/projection.d.ts"
};
static const unsigned char store_types[] = {
#embed "../types/store.d.ts"
};
static const unsigned char react_types[] = {
#embed "../types/react.d.ts"
};

struct client_file client_source(void) { return (struct client_file){source, sizeof source}; }

struct client_file client_module(void) { return (struct client_file){module, sizeof module}; }

struct client_file client_compressed_module(void) {
    return (struct client_file){compressed_module, sizeof compressed_module};
}

struct client_file client_source_map(void) { return (struct client_file){source_map, sizeof source_map}; }

struct client_file client_projection(void) { return (struct client_file){projection, sizeof projection}; }

struct client_file client_store(void) { return (struct client_file){store, sizeof store}; }

struct client_file client_react(void) { return (struct client_file){react, sizeof react}; }

struct client_file client_types(void) { return (struct client_file){types, sizeof types}; }

struct client_file client_projection_types(void) {
    return (struct client_file){projection_types, sizeof projection_types};
}

struct client_file client_store_types(void) { return (struct client_file){store_types, sizeof store_types}; }

struct client_file client_react_types(void) { return (struct client_file){react_types, sizeof react_types}; }
