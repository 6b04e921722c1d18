import Boot
import Crypto
import GatewayPages
import SocketIOServer
import WebClient

/// A file that stays as it is while the gateway runs: of its pages for people, or the client for web pages.
struct StaticFile: Sendable {
    /// Whether pages of other servers may have it, those of the allowed origins.
    let isForOtherOrigins: Bool
    private let content: [UInt8]
    /// Changes with the content.
    private let validator: String
    private let caching: String
    private let contentType: String
    private let securityPolicy: String?

    /// The file at a path; `nil` if there is none.
    static func at(_ path: String) -> StaticFile? { Self.byPath[path] }

    /// The answer to a request for it.
    /// - Parameter known: the validators of If-None-Match, if the request has that field.
    func answer(known: String?) -> HTTPResponse {
        var headers = [("cache-control", self.caching), ("etag", self.validator)]
        // Also when the page is known: fields of that answer replace stored ones (RFC 9111 section 4.3.4), and without its
        // own policy the page would get the one of answers that are no pages.
        if let securityPolicy { headers.append(("content-security-policy", securityPolicy)) }
        // The validators that a cache has, or any (RFC 9110 section 13.1.2).
        if let known, known == "*" || known.split(separator: ",").contains(where: { self.matches($0) }) {
            return HTTPResponse(status: 304, headers: headers)
        }
        headers.append(("content-type", self.contentType))
        return HTTPResponse(status: 200, headers: headers, body: self.content)
    }

    /// Whether an entry of If-None-Match names this content; a weak validator does as well.
    private func matches(_ entry: Substring) -> Bool {
        var entry = entry.drop { $0 == " " }
        while entry.last == " " { entry.removeLast() }
        return (entry.hasPrefix("W/") ? entry.dropFirst(2) : entry) == self.validator
    }

    // MARK: All files

    private static let byPath: [String: StaticFile] = {
        var files: [String: StaticFile] = [:]
        for file in PageFile.all { files[file.path] = StaticFile(file) }
        // Under an address of its own each version stays the same for ever: a year, the most that caches count with.
        files["/client/\(BuildInfo.version)/touchsync.js"] = .client(caching: "public, max-age=31536000, immutable")
        files["/client/touchsync.js"] = .client(caching: "public, max-age=300")
        return files
    }()

    private static func client(caching: String) -> StaticFile {
        StaticFile(
            WebClient.module, contentType: PageFile.Kind.script.rawValue, caching: caching, isForOtherOrigins: true)
    }

    private init(_ file: PageFile) {
        self.init(
            file.content, contentType: file.kind.rawValue, caching: "no-cache", isForOtherOrigins: false,
            securityPolicy: file.kind == .page ? Self.pagePolicy : nil)
    }

    private init(
        _ content: [UInt8], contentType: String, caching: String, isForOtherOrigins: Bool, securityPolicy: String? = nil
    ) {
        let digits = SHA256.hash(data: content).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        self.validator = "\"\(digits.joined())\""
        self.content = content
        self.contentType = contentType
        self.caching = caching
        self.isForOtherOrigins = isForOtherOrigins
        self.securityPolicy = securityPolicy
    }

    /// What a page may do (Content Security Policy 3): run and show files of this gateway, and connect to it. Text that
    /// somebody smuggled into it stays text.
    private static let pagePolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")
}
