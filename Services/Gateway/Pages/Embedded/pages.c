#include "pages.h"

// What pages and scripts load is served flat under /app/. Each content ends with a zero byte.
static const struct page_file files[] = {
    {"/", (const unsigned char[]){
#embed "../web/canvas/canvas.html" suffix(, 0)
    }},
    {"/app/cards.css", (const unsigned char[]){
#embed "../web/canvas/cards.css" suffix(, 0)
    }},
    {"/app/overlay.css", (const unsigned char[]){
#embed "../web/canvas/overlay.css" suffix(, 0)
    }},
    {"/app/page.css", (const unsigned char[]){
#embed "../web/canvas/page.css" suffix(, 0)
    }},
    {"/app/playback.css", (const unsigned char[]){
#embed "../web/canvas/playback.css" suffix(, 0)
    }},
    {"/app/actions.js", (const unsigned char[]){
#embed "../web/canvas/actions.js" suffix(, 0)
    }},
    {"/app/aim.js", (const unsigned char[]){
#embed "../web/canvas/aim.js" suffix(, 0)
    }},
    {"/app/animations.js", (const unsigned char[]){
#embed "../web/canvas/animations.js" suffix(, 0)
    }},
    {"/app/arrange.js", (const unsigned char[]){
#embed "../web/canvas/arrange.js" suffix(, 0)
    }},
    {"/app/arranging.js", (const unsigned char[]){
#embed "../web/canvas/arranging.js" suffix(, 0)
    }},
    {"/app/arrows.js", (const unsigned char[]){
#embed "../web/canvas/arrows.js" suffix(, 0)
    }},
    {"/app/bitmaps.js", (const unsigned char[]){
#embed "../web/canvas/bitmaps.js" suffix(, 0)
    }},
    {"/app/board.js", (const unsigned char[]){
#embed "../web/canvas/board.js" suffix(, 0)
    }},
    {"/app/camera.js", (const unsigned char[]){
#embed "../web/canvas/camera.js" suffix(, 0)
    }},
    {"/app/canvas.js", (const unsigned char[]){
#embed "../web/canvas/canvas.js" suffix(, 0)
    }},
    {"/app/cards.js", (const unsigned char[]){
#embed "../web/canvas/cards.js" suffix(, 0)
    }},
    {"/app/clipboard.js", (const unsigned char[]){
#embed "../web/canvas/clipboard.js" suffix(, 0)
    }},
    {"/app/colourbox.js", (const unsigned char[]){
#embed "../web/canvas/colourbox.js" suffix(, 0)
    }},
    {"/app/colours.js", (const unsigned char[]){
#embed "../web/canvas/colours.js" suffix(, 0)
    }},
    {"/app/commands.js", (const unsigned char[]){
#embed "../web/canvas/commands.js" suffix(, 0)
    }},
    {"/app/connection.js", (const unsigned char[]){
#embed "../web/canvas/connection.js" suffix(, 0)
    }},
    {"/app/copies.js", (const unsigned char[]){
#embed "../web/canvas/copies.js" suffix(, 0)
    }},
    {"/app/copying.js", (const unsigned char[]){
#embed "../web/canvas/copying.js" suffix(, 0)
    }},
    {"/app/drafts.js", (const unsigned char[]){
#embed "../web/canvas/drafts.js" suffix(, 0)
    }},
    {"/app/drawing.js", (const unsigned char[]){
#embed "../web/canvas/drawing.js" suffix(, 0)
    }},
    {"/app/editing.js", (const unsigned char[]){
#embed "../web/canvas/editing.js" suffix(, 0)
    }},
    {"/app/entry.js", (const unsigned char[]){
#embed "../web/canvas/entry.js" suffix(, 0)
    }},
    {"/app/excalidraw.js", (const unsigned char[]){
#embed "../web/canvas/excalidraw.js" suffix(, 0)
    }},
    {"/app/export.js", (const unsigned char[]){
#embed "../web/canvas/export.js" suffix(, 0)
    }},
    {"/app/fitting.js", (const unsigned char[]){
#embed "../web/canvas/fitting.js" suffix(, 0)
    }},
    {"/app/follow.js", (const unsigned char[]){
#embed "../web/canvas/follow.js" suffix(, 0)
    }},
    {"/app/foreign.js", (const unsigned char[]){
#embed "../web/canvas/foreign.js" suffix(, 0)
    }},
    {"/app/frames.js", (const unsigned char[]){
#embed "../web/canvas/frames.js" suffix(, 0)
    }},
    {"/app/geometry.js", (const unsigned char[]){
#embed "../web/canvas/geometry.js" suffix(, 0)
    }},
    {"/app/give.js", (const unsigned char[]){
#embed "../web/canvas/give.js" suffix(, 0)
    }},
    {"/app/groups.js", (const unsigned char[]){
#embed "../web/canvas/groups.js" suffix(, 0)
    }},
    {"/app/guides.js", (const unsigned char[]){
#embed "../web/canvas/guides.js" suffix(, 0)
    }},
    {"/app/hand.js", (const unsigned char[]){
#embed "../web/canvas/hand.js" suffix(, 0)
    }},
    {"/app/handles.js", (const unsigned char[]){
#embed "../web/canvas/handles.js" suffix(, 0)
    }},
    {"/app/history.js", (const unsigned char[]){
#embed "../web/canvas/history.js" suffix(, 0)
    }},
    {"/app/identity.js", (const unsigned char[]){
#embed "../web/canvas/identity.js" suffix(, 0)
    }},
    {"/app/import.js", (const unsigned char[]){
#embed "../web/canvas/import.js" suffix(, 0)
    }},
    {"/app/invite.js", (const unsigned char[]){
#embed "../web/canvas/invite.js" suffix(, 0)
    }},
    {"/app/keyboard.js", (const unsigned char[]){
#embed "../web/canvas/keyboard.js" suffix(, 0)
    }},
    {"/app/keys.js", (const unsigned char[]){
#embed "../web/canvas/keys.js" suffix(, 0)
    }},
    {"/app/kinds.js", (const unsigned char[]){
#embed "../web/canvas/kinds.js" suffix(, 0)
    }},
    {"/app/later.js", (const unsigned char[]){
#embed "../web/canvas/later.js" suffix(, 0)
    }},
    {"/app/load.js", (const unsigned char[]){
#embed "../web/canvas/load.js" suffix(, 0)
    }},
    {"/app/log.js", (const unsigned char[]){
#embed "../web/canvas/log.js" suffix(, 0)
    }},
    {"/app/media.js", (const unsigned char[]){
#embed "../web/canvas/media.js" suffix(, 0)
    }},
    {"/app/menu.js", (const unsigned char[]){
#embed "../web/canvas/menu.js" suffix(, 0)
    }},
    {"/app/minimap.js", (const unsigned char[]){
#embed "../web/canvas/minimap.js" suffix(, 0)
    }},
    {"/app/moment.js", (const unsigned char[]){
#embed "../web/canvas/moment.js" suffix(, 0)
    }},
    {"/app/motion.js", (const unsigned char[]){
#embed "../web/canvas/motion.js" suffix(, 0)
    }},
    {"/app/names.js", (const unsigned char[]){
#embed "../web/canvas/names.js" suffix(, 0)
    }},
    {"/app/notices.js", (const unsigned char[]){
#embed "../web/canvas/notices.js" suffix(, 0)
    }},
    {"/app/order.js", (const unsigned char[]){
#embed "../web/canvas/order.js" suffix(, 0)
    }},
    {"/app/overlay.js", (const unsigned char[]){
#embed "../web/canvas/overlay.js" suffix(, 0)
    }},
    {"/app/page.js", (const unsigned char[]){
#embed "../web/canvas/page.js" suffix(, 0)
    }},
    {"/app/paint.js", (const unsigned char[]){
#embed "../web/canvas/paint.js" suffix(, 0)
    }},
    {"/app/pen.js", (const unsigned char[]){
#embed "../web/canvas/pen.js" suffix(, 0)
    }},
    {"/app/people.js", (const unsigned char[]){
#embed "../web/canvas/people.js" suffix(, 0)
    }},
    {"/app/pictures.js", (const unsigned char[]){
#embed "../web/canvas/pictures.js" suffix(, 0)
    }},
    {"/app/placing.js", (const unsigned char[]){
#embed "../web/canvas/placing.js" suffix(, 0)
    }},
    {"/app/playback.js", (const unsigned char[]){
#embed "../web/canvas/playback.js" suffix(, 0)
    }},
    {"/app/pointer.js", (const unsigned char[]){
#embed "../web/canvas/pointer.js" suffix(, 0)
    }},
    {"/app/portraits.js", (const unsigned char[]){
#embed "../web/canvas/portraits.js" suffix(, 0)
    }},
    {"/app/presence.js", (const unsigned char[]){
#embed "../web/canvas/presence.js" suffix(, 0)
    }},
    {"/app/quality.js", (const unsigned char[]){
#embed "../web/canvas/quality.js" suffix(, 0)
    }},
    {"/app/recording.js", (const unsigned char[]){
#embed "../web/canvas/recording.js" suffix(, 0)
    }},
    {"/app/restoring.js", (const unsigned char[]){
#embed "../web/canvas/restoring.js" suffix(, 0)
    }},
    {"/app/robot.js", (const unsigned char[]){
#embed "../web/canvas/robot.js" suffix(, 0)
    }},
    {"/app/robots.js", (const unsigned char[]){
#embed "../web/canvas/robots.js" suffix(, 0)
    }},
    {"/app/roomcore.js", (const unsigned char[]){
#embed "../web/canvas/roomcore.js" suffix(, 0)
    }},
    {"/app/rulers.js", (const unsigned char[]){
#embed "../web/canvas/rulers.js" suffix(, 0)
    }},
    {"/app/samples.js", (const unsigned char[]){
#embed "../web/canvas/samples.js" suffix(, 0)
    }},
    {"/app/scene.js", (const unsigned char[]){
#embed "../web/canvas/scene.js" suffix(, 0)
    }},
    {"/app/selection.js", (const unsigned char[]){
#embed "../web/canvas/selection.js" suffix(, 0)
    }},
    {"/app/shapes.js", (const unsigned char[]){
#embed "../web/canvas/shapes.js" suffix(, 0)
    }},
    {"/app/stage.js", (const unsigned char[]){
#embed "../web/canvas/stage.js" suffix(, 0)
    }},
    {"/app/storage.js", (const unsigned char[]){
#embed "../web/canvas/storage.js" suffix(, 0)
    }},
    {"/app/storing.js", (const unsigned char[]){
#embed "../web/canvas/storing.js" suffix(, 0)
    }},
    {"/app/strokes.js", (const unsigned char[]){
#embed "../web/canvas/strokes.js" suffix(, 0)
    }},
    {"/app/svg.js", (const unsigned char[]){
#embed "../web/canvas/svg.js" suffix(, 0)
    }},
    {"/app/textbar.js", (const unsigned char[]){
#embed "../web/canvas/textbar.js" suffix(, 0)
    }},
    {"/app/texts.js", (const unsigned char[]){
#embed "../web/canvas/texts.js" suffix(, 0)
    }},
    {"/app/theme.js", (const unsigned char[]){
#embed "../web/canvas/theme.js" suffix(, 0)
    }},
    {"/app/ties.js", (const unsigned char[]){
#embed "../web/canvas/ties.js" suffix(, 0)
    }},
    {"/app/tips.js", (const unsigned char[]){
#embed "../web/canvas/tips.js" suffix(, 0)
    }},
    {"/app/tldraw.js", (const unsigned char[]){
#embed "../web/canvas/tldraw.js" suffix(, 0)
    }},
    {"/app/tldrawpath.js", (const unsigned char[]){
#embed "../web/canvas/tldrawpath.js" suffix(, 0)
    }},
    {"/app/toolbar.js", (const unsigned char[]){
#embed "../web/canvas/toolbar.js" suffix(, 0)
    }},
    {"/app/tools.js", (const unsigned char[]){
#embed "../web/canvas/tools.js" suffix(, 0)
    }},
    {"/app/values.js", (const unsigned char[]){
#embed "../web/canvas/values.js" suffix(, 0)
    }},
    {"/app/wheel.js", (const unsigned char[]){
#embed "../web/canvas/wheel.js" suffix(, 0)
    }},
    {"/app/words.js", (const unsigned char[]){
#embed "../web/canvas/words.js" suffix(, 0)
    }},
    {"/app/wrapping.js", (const unsigned char[]){
#embed "../web/canvas/wrapping.js" suffix(, 0)
    }},
    {"/app/writers.js", (const unsigned char[]){
#embed "../web/canvas/writers.js" suffix(, 0)
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
