// The files of the schema, in the program.
#pragma once

// The migration to a version: UTF-8, ended by a zero byte. Null before the first and after the last one.
const unsigned char *schema_file(int version);
