internal import Trust

/// libzmq's question about the key of a connection (ZeroMQ RFC 27), and the answer.
///
/// Question, one part each: version "1.0", request id, domain, address, routing id, mechanism, key. Answer: version,
/// request id, status, its text, user id, metadata.
struct ZapRequest: Equatable {
    let id: [UInt8]
    let domain: String
    /// The IP address of the other side, as libzmq names it.
    let address: String
    let key: PublicKey

    /// nil for another version, mechanism or number of parts.
    init?(_ parts: [[UInt8]]) {
        guard parts.count == 7, parts[0] == Array("1.0".utf8), parts[5] == Array("CURVE".utf8),
            let key = PublicKey(parts[6])
        else { return nil }
        self.id = parts[1]
        self.domain = String(decoding: parts[2], as: UTF8.self)
        self.address = String(decoding: parts[3], as: UTF8.self)
        self.key = key
    }

    /// Admits the key. Its text becomes the user id of everything that comes over the connection.
    var admission: [[UInt8]] { Self.answer(self.id, status: "200", text: "OK", userID: self.key.description) }

    /// Refuses the key for good. The other side learns the status only.
    static func refusal(of id: [UInt8]) -> [[UInt8]] { self.answer(id, status: "400", text: "refused", userID: "") }

    private static func answer(_ id: [UInt8], status: String, text: String, userID: String) -> [[UInt8]] {
        [Array("1.0".utf8), id, Array(status.utf8), Array(text.utf8), Array(userID.utf8), []]
    }
}
