// What Glibc's Swift module does not export.
#pragma once
#include <sys/eventfd.h>
#include <sys/prctl.h>
