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
        PageFile("/app/canvas.css", .style, PackageResources.canvas_css),
        PageFile("/app/canvas.js", .script, PackageResources.canvas_js),
        PageFile("/ops", .page, PackageResources.ops_html),
        PageFile("/app/ops.css", .style, PackageResources.ops_css),
        PageFile("/app/ops.js", .script, PackageResources.ops_js),
        PageFile("/app/ops-charts.js", .script, PackageResources.ops_charts_js),
        PageFile("/app/ops-details.js", .script, PackageResources.ops_details_js),
        PageFile("/app/ops-history.js", .script, PackageResources.ops_history_js),
        PageFile("/app/ops-picture.js", .script, PackageResources.ops_picture_js),
        PageFile("/app/ops-text.js", .script, PackageResources.ops_text_js),
    ]
}
