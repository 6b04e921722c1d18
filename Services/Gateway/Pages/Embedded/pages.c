#include "pages.h"

// What pages and scripts load is served flat under /app/. Each content ends with a zero byte.
static const struct page_file files[] = {
    {"/", (const unsigned char[]){
#embed "../web/canvas/canvas.html" suffix(, 0)
    }},
    {"/app/page.css", (const unsigned char[]){
#embed "../served/page.css" suffix(, 0)
    }},
    {"/app/playback.css", (const unsigned char[]){
#embed "../web/canvas/playback.css" suffix(, 0)
    }},
    {"/app/canvas.js", (const unsigned char[]){
#embed "../served/canvas.js" suffix(, 0)
    }},
    {"/app/entry.js", (const unsigned char[]){
#embed "../served/entry.js" suffix(, 0)
    }},
    {"/app/later.js", (const unsigned char[]){
#embed "../served/later.js" suffix(, 0)
    }},
    {"/app/robots.js", (const unsigned char[]){
#embed "../served/robots.js" suffix(, 0)
    }},
    {"/app/soon.js", (const unsigned char[]){
#embed "../served/soon.js" suffix(, 0)
    }},
    {"/app/city.svg", (const unsigned char[]){
#embed "../web/canvas/city.svg" suffix(, 0)
    }},
    {"/app/coast.svg", (const unsigned char[]){
#embed "../web/canvas/coast.svg" suffix(, 0)
    }},
    {"/app/forest.svg", (const unsigned char[]){
#embed "../web/canvas/forest.svg" suffix(, 0)
    }},
    {"/app/mark.svg", (const unsigned char[]){
#embed "../web/canvas/mark.svg" suffix(, 0)
    }},
    {"/app/mountains.svg", (const unsigned char[]){
#embed "../web/canvas/mountains.svg" suffix(, 0)
    }},
};

const unsigned char *openapi_template(void) {
    static const unsigned char text[] = {
#embed "../web/openapi.json" suffix(, 0)
    };
    return text;
}

const struct page_file *page_file(int index) {
    const int count = sizeof files / sizeof files[0];
    return index < count ? &files[index] : 0;
}
