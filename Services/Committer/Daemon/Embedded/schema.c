#include "schema.h"

// In their order.
static const unsigned char *const files[] = {
    (const unsigned char[]){
#embed "../Schema/0019-schema.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0020-room-gestures.sql" suffix(, 0)
    },
    (const unsigned char[]){
#embed "../Schema/0021-pictures.sql" suffix(, 0)
    },
};

const unsigned char *schema_file(int version) {
    const int first = 19, count = sizeof files / sizeof files[0];
    return version >= first && version < first + count ? files[version - first] : 0;
}
