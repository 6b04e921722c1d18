// The files of the page for operators, in the program.
#pragma once

struct monitor_file {
    // The path of its address, and its media type.
    const char *path, *type;
    // UTF-8, ended by a zero byte.
    const unsigned char *content;
};

// The file at an index from 0 on; null after the last one.
const struct monitor_file *monitor_file(int index);
