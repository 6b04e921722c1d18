import CGatewayPages

/// A file of the gateway's pages for people, as it stands in `web`, without its comments.
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
        let text = Array(String(cString: file.content).utf8)
        self.content = self.kind == .script || self.kind == .style ? Self.withoutComments(text) : text
    }

    /// Comments that have lines of their own are for who works on the page, and a third of its bytes. The lines stay, so that
    /// an error names those of the source.
    private static func withoutComments(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var isWithin = false
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let words = line.drop { $0 == UInt8(ascii: " ") }
            let begins = words.starts(with: "/*".utf8), hasEnd = words.firstRange(of: Array("*/".utf8)) != nil
            let isAll = begins && (!hasEnd || words.suffix(2).elementsEqual("*/".utf8))
            if !(isWithin || isAll || words.starts(with: "//".utf8)) { result += line }
            isWithin = (isWithin || begins) && !hasEnd
            result.append(UInt8(ascii: "\n"))
        }
        result.removeLast()
        return result
    }

    /// All of them.
    package static let all = Array(
        sequence(state: 0 as Int32) { index in
            defer { index += 1 }
            return page_file(index).map { PageFile($0.pointee) }
        })
}

/// The description of the HTTP API in OpenAPI 3.0. It names the fields of elements by placeholders.
package let openAPITemplate = String(cString: openapi_template())
