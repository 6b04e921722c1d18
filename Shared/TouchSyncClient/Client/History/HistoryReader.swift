import JSONBytes
import TouchSyncClientCore

struct HistoryReader: Sendable {
    let transport: any Transport
    let address: ServerOrigin

    /// The server's pages have about 1 MiB, unless a single entry is larger.
    private static let pageBytes = 8 << 20
    /// An entry may have all elements of a room before and after.
    static let entryBytes = 256 << 20

    /// How much of a page is read for the client itself.
    static func bytes(entries limit: Int) -> Int { limit == 1 ? Self.entryBytes : Self.pageBytes }

    /// A page behind a number.
    /// - Parameter bytes: the most that is read of it.
    /// - Throws: `ClientError` when the server refuses, `TransportError` when there is no page, or it is too large.
    func page(room: String, after: Int64, limit: Int, bytes: Int = entryBytes, token: String?) async throws -> JSONValue
    {
        let url = self.address.historyURL(room: room, after: after, limit: limit)
        let response = try await self.transport.get(url, token: token, limit: bytes)
        // A room that nothing was ever stored in.
        if response.status == 404 {
            return JSONObject { writer in
                writer.member("entries", [String]())
                writer.member("oldest", 1)
            }.value
        }
        guard let json = JSONValue(clientText: response.body) else {
            throw TransportError(.notTouchSync, "The history is no JSON; its HTTP status is \(response.status).")
        }
        guard response.status == 200 else { throw ClientError(JSONObject(json["error"])) }
        return json
    }
}

/// How many entries are read at once: fewer after a page that could not be had, because it may have been too large.
struct PageLimits: Sendable {
    private static let most = 200
    private var limits: [TextKey: Int] = [:]

    subscript(room: String) -> Int { self.limits[TextKey(room)] ?? Self.most }

    mutating func failed(_ room: String) {
        self.limits[TextKey(room)] = max(1, self[room] / 20)
    }

    mutating func succeeded(_ room: String) {
        self.limits[TextKey(room)] = nil
    }
}
