// The client for web pages, in the program.
#pragma once

struct client_file {
    const unsigned char *content;
    // In bytes.
    int size;
};

// Its source.
struct client_file client_source(void);
// The same as `minify.sh` makes it.
struct client_file client_module(void);
// The module in the format of gzip.
struct client_file client_compressed_module(void);
// Where each part of the module is in its source.
struct client_file client_source_map(void);
// The module that finds elements on the canvas, minified.
struct client_file client_projection(void);
// The module that keeps edits in the browser, minified.
struct client_file client_store(void);
// The hooks for React, minified.
struct client_file client_react(void);
// The types of what apps use of each.
struct client_file client_types(void);
struct client_file client_projection_types(void);
struct client_file client_store_types(void);
struct client_file client_react_types(void);
