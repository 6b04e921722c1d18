/// The web origins that may open a session. Clients other than browsers send none or their own address.
public enum OriginPolicy: Sendable, Equatable {
    /// Every origin; the CORS answer is `*`.
    case any
    /// Exactly these origins, byte for byte, such as `https://app.example.com`; empty rejects every browser.
    case only([String])

    /// The verdict on a request.
    public enum Verdict: Sendable, Equatable {
        case allowed
        /// 403.
        case refused
        /// 400: more than one Origin.
        case malformed
    }

    /// Checks the Origin fields of a request.
    ///
    /// No Origin is allowed: browsers always send one with WebSockets and cross-site requests. So is `ws://` or
    /// `wss://` followed by the request's own Host, which native clients send and no browser can.
    public func judge(_ head: HTTPRequestHead) -> Verdict {
        guard head.headerCount("origin") <= 1 else { return .malformed }
        guard let origin = head.headerBytes("origin") else { return .allowed }
        switch self {
        case .any: return .allowed
        case .only(let list):
            if list.contains(where: { origin.elementsEqual($0.utf8) }) { return .allowed }
            return Self.isOwnSocketAddress(origin, host: head.headerBytes("host")) ? .allowed : .refused
        }
    }

    /// The value of `Access-Control-Allow-Origin`, `nil` for none.
    public func allowedOrigin(for head: HTTPRequestHead) -> String? {
        switch self {
        case .any: return "*"
        case .only(let list):
            guard let origin = head.headerBytes("origin") else { return nil }
            return list.first { origin.elementsEqual($0.utf8) }
        }
    }

    private static func isOwnSocketAddress(_ origin: ArraySlice<UInt8>, host: ArraySlice<UInt8>?) -> Bool {
        guard let host, !host.isEmpty else { return false }
        return ["ws://", "wss://"].contains { scheme in
            origin.starts(with: scheme.utf8) && origin.dropFirst(scheme.utf8.count).elementsEqual(host)
        }
    }
}
