// The files of the gateway's pages, in the program.
#pragma once

struct page_file {
    // The path of its address.
    const char *path;
    // UTF-8, ended by a zero byte.
    const unsigned char *content;
};

// The description of the HTTP API without the fields of elements: UTF-8, ended by a zero byte.
const unsigned char *openapi_template(void);

// The file at an index from 0 on; null after the last one.
const struct page_file *page_file(int index);
