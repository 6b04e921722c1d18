/// The public half of a key pair of CurveZMQ: a point of Curve25519. It may be shown to anybody.
package struct PublicKey: Hashable, Sendable, CustomStringConvertible {
    /// The length of a key, bytes.
    package static let length = 32
    /// The length of a key's text, characters.
    package static let textLength = 40

    /// 32 bytes.
    package let bytes: [UInt8]

    /// nil unless there are 32 bytes.
    package init?(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        guard self.bytes.count == PublicKey.length else { return nil }
    }

    /// Parses ZeroMQ's text of a key, Z85; nil unless it has 40 characters that encode 32 bytes.
    package init?(text: some Collection<UInt8>) {
        guard text.count == PublicKey.textLength, let bytes = Z85.decode(text) else { return nil }
        self.bytes = bytes
    }

    package var description: String { Z85.encode(self.bytes) }
}
