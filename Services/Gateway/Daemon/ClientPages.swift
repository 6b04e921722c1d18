import Boot
import Crypto
import SocketIOServer
import WebClient

/// The client for web pages, under two addresses: one that always has this gateway's version, and one for each version,
/// whose content never changes.
enum ClientPages {
    /// Of this gateway's version, whatever that is; caches ask again after five minutes.
    static let currentPath = "/client/touchsync.js"
    /// Of one version.
    static let versionedPath = "/client/\(BuildInfo.version)/touchsync.js"

    /// The answer to a request for a path; `nil` if it is not the client's.
    /// - Parameter known: the validators of If-None-Match, if the request has that field.
    static func answer(path: String, known: String?) -> HTTPResponse? {
        guard let caching = self.caching(of: path) else { return nil }
        let headers = [("cache-control", caching), ("etag", self.validator)]
        // The validators that a cache has, or any (RFC 9110 section 13.1.2).
        if let known, known == "*" || known.split(separator: ",").contains(where: { self.matches($0) }) {
            return HTTPResponse(status: 304, headers: headers)
        }
        let type = [("content-type", "text/javascript; charset=utf-8")]
        return HTTPResponse(status: 200, headers: type + headers, body: WebClient.module)
    }

    private static func caching(of path: String) -> String? {
        switch path {
        case self.currentPath: "public, max-age=300"
        // A year, the most that caches count with.
        case self.versionedPath: "public, max-age=31536000, immutable"
        default: nil
        }
    }

    /// Changes with the content.
    private static let validator: String = {
        let digits = SHA256.hash(data: WebClient.module).prefix(8)
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return "\"\(digits.joined())\""
    }()

    /// Whether an entry of If-None-Match names this content; a weak validator does as well.
    private static func matches(_ entry: Substring) -> Bool {
        var entry = entry.drop { $0 == " " }
        while entry.last == " " { entry.removeLast() }
        return (entry.hasPrefix("W/") ? entry.dropFirst(2) : entry) == self.validator
    }
}
