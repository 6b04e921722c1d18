/// Encodes a request for relaying to the server that owns its session.
///
/// The head is rebuilt from the parsed one, without hop-by-hop fields (RFC 9110 section 7.6.1). So both servers see the
/// same request, however unusually a client framed it.
public enum HTTPRelay {
    /// The field that marks a relayed request; a server that finds it does not relay again.
    ///
    /// So there can be no loop, whatever names and addresses were configured. Where neighbours prove what they relay, a
    /// request with this field and without a proof is refused; elsewhere a client that sends it only disables relaying
    /// for itself.
    static let mark: StaticString = "X-SocketIO-Relayed"

    /// The field with the proof that a neighbour relayed the request.
    static let proof: StaticString = "X-SocketIO-Relay-Proof"

    private static let hopFields: [StaticString] = [
        "x-socketio-relay-proof", "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade", "expect",
        "content-length", "x-forwarded-for",
    ]

    /// Whether a request was relayed by another server.
    public static func isRelayed(_ head: HTTPRequestHead) -> Bool { head.headerCount(Self.mark) > 0 }

    /// The proof of a relayed request; nil if there is none, or more than one.
    public static func proof(of head: HTTPRequestHead) -> String? {
        head.headerCount(Self.proof) == 1 ? head.header(Self.proof) : nil
    }

    /// Path and query of a request, as they are relayed.
    public static func target(of head: HTTPRequestHead) -> String {
        head.queryRange.isEmpty ? head.path : "\(head.path)?\(head.query)"
    }

    /// The encoded request for the owner, on a connection that is kept alive or becomes a WebSocket.
    /// - Parameters:
    ///   - body: the whole body, however it was framed.
    ///   - client: the client's IP address, appended to `X-Forwarded-For`.
    ///   - proof: that this server relays the request; nil where neighbours ask for none.
    public static func request(
        _ head: HTTPRequestHead, body: [UInt8], client: String?, proof: String? = nil
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(head.bytes.count + body.count + 128)
        bytes += head.bytes[head.methodRange] + [0x20] + head.bytes[head.pathRange]
        if !head.queryRange.isEmpty { bytes += [UInt8(ascii: "?")] + head.bytes[head.queryRange] }
        bytes += Array(" HTTP/1.1\r\n".utf8)
        for field in head.fields where !Self.staysBehind(head.bytes[field.name], head) {
            Self.append(head.bytes[field.name], head.bytes[field.value], to: &bytes)
        }
        if head.headerCount("host") == 0 { Self.append("Host", "", to: &bytes) }
        let forwarded = Self.forwardedFor(head, client)
        if !forwarded.isEmpty { Self.append("X-Forwarded-For", forwarded, to: &bytes) }
        Self.append(Self.mark.description, "1", to: &bytes)
        if let proof { Self.append(Self.proof.description, proof, to: &bytes) }
        if WebSocketHandshake.isAsked(by: head) {
            Self.append("Connection", "Upgrade", to: &bytes)
            Self.append("Upgrade", "websocket", to: &bytes)
        }
        if !body.isEmpty || head.isMethod("POST") { Self.append("Content-Length", "\(body.count)", to: &bytes) }
        bytes += [0x0D, 0x0A]
        bytes += body
        return bytes
    }

    /// The addresses that a request passed, with the client's as the last one.
    /// - Parameter client: nil for the request as it is.
    public static func forwardedFor(_ head: HTTPRequestHead, _ client: String? = nil) -> String {
        (head.headers(named: "x-forwarded-for") + [client ?? ""]).filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private static func staysBehind(_ name: ArraySlice<UInt8>, _ head: HTTPRequestHead) -> Bool {
        Self.hopFields.contains { HTTPRequestHead.equal(name, $0, ignoringCase: true) }
            || head.header("connection", lists: name)
    }

    private static func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        Self.append(Array(name.utf8)[...], Array(value.utf8)[...], to: &bytes)
    }

    private static func append(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        bytes += name
        bytes += [UInt8(ascii: ":"), 0x20]
        bytes += value
        bytes += [0x0D, 0x0A]
    }
}
