import Boot
import Crypto
import GatewayPages
import SocketIOServer
import WebClient

/// A file that stays as it is while the gateway runs: of its pages for people, or the client for web pages.
struct StaticFile: Sendable {
    private struct Representation {
        let content: [UInt8]
        /// Changes with the content.
        let validator: String

        init(_ content: [UInt8]) {
            let digits = SHA256.hash(data: content).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            self.content = content
            self.validator = "\"\(digits.joined())\""
        }
    }

    /// Whether pages of other servers may have it, those of the allowed origins.
    let isForOtherOrigins: Bool
    private let plain: Representation
    /// In the format of gzip; `nil` for a file that few ask for.
    private let compressed: Representation?
    private let caching: String
    private let contentType: String
    private let hasSecurityPolicy: Bool
    /// Where debuggers find its source map, relative to it.
    private let sourceMap: String?

    static func at(_ path: String) -> StaticFile? { Self.byPath[path] }

    /// Compresses them, unless that is done: an event loop would stand still for it.
    static func prepare() { _ = Self.byPath.count }

    /// The answer to a request for it.
    /// - Parameters:
    ///   - known: the validators of If-None-Match, if the request has that field.
    ///   - encodings: its Accept-Encoding.
    ///   - server: the app's own, which pages may use.
    func answer(known: String?, encodings: String?, with server: AppServer) -> HTTPResponse {
        let compressed = AcceptEncoding(encodings).allowsGzip ? self.compressed : nil
        let chosen = compressed ?? self.plain
        var headers = [("cache-control", self.caching), ("etag", chosen.validator)]
        if self.compressed != nil { headers.append(("vary", "accept-encoding")) }
        // Without the content, too: a cache replaces the fields that it has by those of a 304 (RFC 9111 section 3.2).
        if self.hasSecurityPolicy { headers.append(("content-security-policy", Self.pagePolicy(with: server))) }
        if let known, Self.names(known, chosen.validator) { return HTTPResponse(status: 304, headers: headers) }
        headers.append(("content-type", self.contentType))
        if compressed != nil { headers.append(("content-encoding", "gzip")) }
        if let sourceMap { headers.append(("sourcemap", sourceMap)) }
        return HTTPResponse(status: 200, headers: headers, body: chosen.content)
    }

    /// Whether an If-None-Match names a validator, or any (RFC 9110 section 13.1.2); a weak one does as well.
    private static func names(_ field: String, _ validator: String) -> Bool {
        if field == "*" { return true }
        return field.split(separator: ",").contains { entry in
            var entry = entry.drop { $0 == " " }
            while entry.last == " " { entry.removeLast() }
            return (entry.hasPrefix("W/") ? entry.dropFirst(2) : entry) == validator
        }
    }

    // MARK: All files

    private static let byPath: [String: StaticFile] = {
        var files: [String: StaticFile] = [:]
        for file in PageFile.all {
            files[file.path] = StaticFile(
                file.content, compressed: gzipped(file.content), contentType: file.kind.rawValue, caching: "no-cache",
                isForOtherOrigins: false,
                // A worker has the policy that its script comes with.
                hasSecurityPolicy: file.kind == .page || file.kind == .script)
        }
        // Under an address of its own each version stays the same for ever: a year, the most that caches count with.
        let folders = [
            "/client/\(BuildInfo.version)": "public, max-age=31536000, immutable", "/client": "public, max-age=300",
        ]
        for (folder, caching) in folders {
            files["\(folder)/touchsync.js"] = .client(
                WebClient.module, compressed: WebClient.compressedModule, caching: caching,
                sourceMap: "touchsync.js.map")
            files["\(folder)/touchsync.js.map"] = .client(
                WebClient.sourceMap, contentType: "application/json", caching: caching)
            // The canvas loads these, too.
            files["\(folder)/projection.js"] = .client(
                WebClient.projection, compressed: gzipped(WebClient.projection), caching: caching)
            files["\(folder)/store.js"] = .client(
                WebClient.store, compressed: gzipped(WebClient.store), caching: caching)
            files["\(folder)/react.js"] = .client(WebClient.react, caching: caching)
            files["\(folder)/touchsync.src.js"] = .client(WebClient.source, caching: caching)
            for (module, types) in WebClient.types {
                files["\(folder)/\(module).d.ts"] = .client(
                    types, contentType: "text/plain; charset=utf-8", caching: caching)
            }
        }
        return files
    }()

    private static func client(
        _ module: [UInt8], compressed: [UInt8]? = nil, contentType: String = PageFile.Kind.script.rawValue,
        caching: String, sourceMap: String? = nil
    ) -> StaticFile {
        StaticFile(
            module, compressed: compressed, contentType: contentType, caching: caching, isForOtherOrigins: true,
            sourceMap: sourceMap)
    }

    private init(
        _ content: [UInt8], compressed: [UInt8]? = nil, contentType: String, caching: String, isForOtherOrigins: Bool,
        hasSecurityPolicy: Bool = false, sourceMap: String? = nil
    ) {
        self.plain = Representation(content)
        self.compressed = compressed.map(Representation.init)
        self.contentType = contentType
        self.caching = caching
        self.isForOtherOrigins = isForOtherOrigins
        self.hasSecurityPolicy = hasSecurityPolicy
        self.sourceMap = sourceMap
    }

    /// What a page may do (Content Security Policy 3): run and show files of this gateway, and connect to it. Text that
    /// somebody smuggled into it stays text.
    /// - Parameter server: another server that it may use.
    private static func pagePolicy(with server: AppServer) -> String {
        let connections = ["connect-src 'self'"] + server.connections
        let pictures = ["img-src 'self' data:"] + server.pictureOrigins
        return [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", connections.joined(separator: " "),
            pictures.joined(separator: " "),
            "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
    }
}

/// The Accept-Encoding field of a request (RFC 9110 section 12.5.3), such as `gzip, br;q=0.5, *;q=0`.
struct AcceptEncoding {
    /// Whether the answer may be in the format of gzip. Without the field, or without a word about it, it may not: nobody
    /// wants to find bytes that it cannot read.
    let allowsGzip: Bool

    /// - Parameter field: its value; `nil` if the request lacks it.
    init(_ field: String?) {
        var (gzip, others) = (Bool?.none, false)
        for entry in (field ?? "").lowercased().split(separator: ",") {
            let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            // A weight of zero says no.
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
            let isAllowed = weight.map { (Double($0) ?? 0) > 0 } ?? true
            switch parts.first {
            case "gzip", "x-gzip": gzip = isAllowed
            case "*": others = isAllowed
            default: break
            }
        }
        self.allowsGzip = gzip ?? others
    }
}
