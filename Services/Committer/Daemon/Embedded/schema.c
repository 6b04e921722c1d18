#include "schema.h"

// In their order.
static const unsigned char *const files[] = {
    (const unsigned char[]){
#embed "../Schema/0001-history.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0002-shards-and-rooms.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0003-elements.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0004-commit-log.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0005-sessions.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0006-commit-batch.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0007-reads.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0008-undo.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0009-limits.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0010-roles.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0011-request-sessions.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0012-look-ups.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0013-session-floor.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0014-living-elements.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0015-undo-ahead.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0016-session-bounds.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0017-other-authors.sql" suffix(, 0)
    },
};

const unsigned char *schema_file(int version) {
    const int count = sizeof files / sizeof files[0];
    return version <= count ? files[version - 1] : 0;
}
