// The files of the schema, in the program.
#pragma once

// The migration to a version from 1 on: UTF-8, ended by a zero byte. Null after the last one.
const unsigned char *schema_file(int version);
