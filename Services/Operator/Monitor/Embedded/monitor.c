#include "monitor.h"

// Each content ends with a zero byte.
static const struct monitor_file files[] = {
    {"/", "text/html", (const unsigned char[]){
#embed "../web/monitor.html" suffix(, 0)
    }},
    {"/handbook", "text/html", (const unsigned char[]){
#embed "../web/handbook.html" suffix(, 0)
    }},
    {"/monitor.css", "text/css", (const unsigned char[]){
#embed "../web/monitor.css" suffix(, 0)
    }},
    {"/charts.js", "text/javascript", (const unsigned char[]){
#embed "../web/charts.js" suffix(, 0)
    }},
    {"/details.js", "text/javascript", (const unsigned char[]){
#embed "../web/details.js" suffix(, 0)
    }},
    {"/history.js", "text/javascript", (const unsigned char[]){
#embed "../web/history.js" suffix(, 0)
    }},
    {"/monitor.js", "text/javascript", (const unsigned char[]){
#embed "../web/monitor.js" suffix(, 0)
    }},
    {"/picture.js", "text/javascript", (const unsigned char[]){
#embed "../web/picture.js" suffix(, 0)
    }},
    {"/text.js", "text/javascript", (const unsigned char[]){
#embed "../web/text.js" suffix(, 0)
    }},
};

const struct monitor_file *monitor_file(int index) {
    const int count = sizeof files / sizeof files[0];
    return index < count ? &files[index] : 0;
}
