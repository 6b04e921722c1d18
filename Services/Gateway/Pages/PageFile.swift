import CGatewayPages

/// A file of the gateway's pages for people: what stands in `web`, without its comments, most scripts as one.
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
    package private(set) var content: [UInt8]

    private init(_ file: page_file) {
        self.path = String(cString: file.path)
        self.kind = Kind(path: self.path)
        let text = Array(String(cString: file.content).utf8)
        self.content = self.kind == .script || self.kind == .style ? Self.withoutComments(text) : text
    }

    /// Comments that have lines of their own are for who works on the page, and a third of its bytes.
    private static func withoutComments(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var isWithin = false
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let words = line.drop { $0 == UInt8(ascii: " ") }
            let begins = words.starts(with: "/*".utf8)
            let hasEnd = words.firstRange(of: Array("*/".utf8)) != nil
            let isAll = begins && (!hasEnd || words.suffix(2).elementsEqual("*/".utf8))
            if !(isWithin || isAll || words.starts(with: "//".utf8)) { result += line }
            isWithin = (isWithin || begins) && !hasEnd
            result.append(UInt8(ascii: "\n"))
        }
        return result
    }

    /// All of them.
    package static let all: [PageFile] = {
        let files = sequence(state: 0 as Int32) { index in
            defer { index += 1 }
            return page_file(index).map { PageFile($0.pointee) }
        }
        let scripts = files.filter { $0.kind == .script }.map { ($0.path, Script($0.content)) }
        let byPath = Dictionary(uniqueKeysWithValues: scripts)
        // Who comes is let in before the rest is there; robots work without a page.
        let bundle = Bundle("/app/canvas.js", alone: ["/app/entry.js", "/app/robots.js"], in: byPath)
        let contents = bundle.contents
        var early: [String] = []
        Bundle.collect("/app/entry.js", in: byPath, into: &early)
        early += ["/app/canvas.js"] + bundle.outer.filter { !early.contains($0) }
        return files.map { file in
            var file = file
            file.content = contents[file.path] ?? file.content
            if file.kind == .page { file.preload(early) }
            return file
        }
    }()

    /// Tells browsers what scripts load: they would find each only in the one before, a round trip later.
    private mutating func preload(_ paths: [String]) {
        let links = paths.map { "<link rel=\"modulepreload\" href=\"\($0)\">\n" }.joined()
        let head = "</title>\n"
        self.content = Array(String(decoding: self.content, as: UTF8.self).replacing(head, with: head + links).utf8)
    }
}

/// The description of the HTTP API in OpenAPI 3.0. It names the fields of elements by placeholders.
package let openAPITemplate = String(cString: openapi_template())
