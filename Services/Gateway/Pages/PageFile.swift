import CGatewayPages

/// A file of the gateway's pages for people: as it stands in `web`, or as `join.mjs` makes it.
package struct PageFile: Sendable {
    /// What it is to a browser.
    package enum Kind: String, Sendable {
        case page = "text/html; charset=utf-8"
        case style = "text/css; charset=utf-8"
        case script = "text/javascript; charset=utf-8"
        case picture = "image/svg+xml"

        fileprivate init(path: String) {
            self =
                switch path.split(separator: ".").last {
                case "css": .style
                case "js": .script
                case "svg": .picture
                default: .page
                }
        }
    }

    /// The path of its address.
    package let path: String
    package let kind: Kind
    package let content: [UInt8]

    private init(_ file: page_file) {
        self.path = String(cString: file.path)
        self.kind = Kind(path: self.path)
        self.content = Array(String(cString: file.content).utf8)
    }

    /// All of them.
    package static let all: [PageFile] = Array(
        sequence(state: 0 as Int32) { index in
            defer { index += 1 }
            return page_file(index).map { PageFile($0.pointee) }
        })
}

/// The description of the HTTP API in OpenAPI 3.0. It names the fields of elements by placeholders.
package let openAPITemplate = String(cString: openapi_template())
