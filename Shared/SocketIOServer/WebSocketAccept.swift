internal import Crypto
internal import JSONBytes

/// `Sec-WebSocket-Accept` (RFC 6455 section 4.2.2), by which a client knows that the server speaks WebSocket.
enum WebSocketAccept {
    static func value(for key: [UInt8]) -> String {
        var hash = Insecure.SHA1()
        hash.update(data: key)
        hash.update(data: Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
        var text: [UInt8] = []
        Array(hash.finalize()).withUnsafeBytes { Base64.encode($0, into: &text) }
        return String(decoding: text, as: UTF8.self)
    }
}
