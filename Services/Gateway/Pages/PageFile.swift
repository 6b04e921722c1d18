/// A file of the gateway's pages for people, as it stands in `web`.
package struct PageFile: Sendable {
    /// What it is to a browser.
    package enum Kind: String, Sendable {
        case page = "text/html; charset=utf-8"
        case style = "text/css; charset=utf-8"
        case script = "text/javascript; charset=utf-8"
        case picture = "image/svg+xml"
    }

    /// The path of its address.
    package let path: String
    package let kind: Kind
    package let content: [UInt8]

    private init(_ path: String, _ kind: Kind, _ content: [UInt8]) {
        self.path = path
        self.kind = kind
        self.content = content
    }

    /// All of them.
    package static let all = [
        PageFile("/", .page, PackageResources.canvas_html),
        PageFile("/app/cards.css", .style, PackageResources.cards_css),
        PageFile("/app/overlay.css", .style, PackageResources.overlay_css),
        PageFile("/app/page.css", .style, PackageResources.page_css),
        PageFile("/app/actions.js", .script, PackageResources.actions_js),
        PageFile("/app/board.js", .script, PackageResources.board_js),
        PageFile("/app/camera.js", .script, PackageResources.camera_js),
        PageFile("/app/canvas.js", .script, PackageResources.canvas_js),
        PageFile("/app/cards.js", .script, PackageResources.cards_js),
        PageFile("/app/colours.js", .script, PackageResources.colours_js),
        PageFile("/app/commands.js", .script, PackageResources.commands_js),
        PageFile("/app/connection.js", .script, PackageResources.connection_js),
        PageFile("/app/editing.js", .script, PackageResources.editing_js),
        PageFile("/app/entry.js", .script, PackageResources.entry_js),
        PageFile("/app/frames.js", .script, PackageResources.frames_js),
        PageFile("/app/geometry.js", .script, PackageResources.geometry_js),
        PageFile("/app/give.js", .script, PackageResources.give_js),
        PageFile("/app/guides.js", .script, PackageResources.guides_js),
        PageFile("/app/hand.js", .script, PackageResources.hand_js),
        PageFile("/app/handles.js", .script, PackageResources.handles_js),
        PageFile("/app/identity.js", .script, PackageResources.identity_js),
        PageFile("/app/keyboard.js", .script, PackageResources.keyboard_js),
        PageFile("/app/load.js", .script, PackageResources.load_js),
        PageFile("/app/media.js", .script, PackageResources.media_js),
        PageFile("/app/minimap.js", .script, PackageResources.minimap_js),
        PageFile("/app/motion.js", .script, PackageResources.motion_js),
        PageFile("/app/notices.js", .script, PackageResources.notices_js),
        PageFile("/app/overlay.js", .script, PackageResources.overlay_js),
        PageFile("/app/page.js", .script, PackageResources.page_js),
        PageFile("/app/people.js", .script, PackageResources.people_js),
        PageFile("/app/pointer.js", .script, PackageResources.pointer_js),
        PageFile("/app/quality.js", .script, PackageResources.quality_js),
        PageFile("/app/robot.js", .script, PackageResources.robot_js),
        PageFile("/app/robots.js", .script, PackageResources.robots_js),
        PageFile("/app/roomcore.js", .script, PackageResources.roomcore_js),
        PageFile("/app/samples.js", .script, PackageResources.samples_js),
        PageFile("/app/scene.js", .script, PackageResources.scene_js),
        PageFile("/app/selection.js", .script, PackageResources.selection_js),
        PageFile("/app/stage.js", .script, PackageResources.stage_js),
        PageFile("/app/theme.js", .script, PackageResources.theme_js),
        PageFile("/app/toolbar.js", .script, PackageResources.toolbar_js),
        PageFile("/app/words.js", .script, PackageResources.words_js),
        PageFile("/app/city.svg", .picture, PackageResources.city_svg),
        PageFile("/app/coast.svg", .picture, PackageResources.coast_svg),
        PageFile("/app/forest.svg", .picture, PackageResources.forest_svg),
        PageFile("/app/mark.svg", .picture, PackageResources.mark_svg),
        PageFile("/app/mountains.svg", .picture, PackageResources.mountains_svg),
        PageFile("/ops", .page, PackageResources.ops_html),
        PageFile("/ops/handbook", .page, PackageResources.handbook_html),
        PageFile("/app/ops.css", .style, PackageResources.ops_css),
        PageFile("/app/ops.js", .script, PackageResources.ops_js),
        PageFile("/app/ops-charts.js", .script, PackageResources.ops_charts_js),
        PageFile("/app/ops-details.js", .script, PackageResources.ops_details_js),
        PageFile("/app/ops-history.js", .script, PackageResources.ops_history_js),
        PageFile("/app/ops-picture.js", .script, PackageResources.ops_picture_js),
        PageFile("/app/ops-text.js", .script, PackageResources.ops_text_js),
    ]
}
