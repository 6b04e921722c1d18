internal import Crypto

/// Proof that a gateway passes on a request of a client: HMAC-SHA256 with a key that only the two gateways can derive.
///
/// ```
/// NAME;TIME;NONCE;DIGEST;MAC[,MAC]
/// ```
/// - `NAME`: of the relaying gateway; `TIME`: ms since 1970 by its clock; `NONCE`: 16 random bytes;
/// - `DIGEST`: SHA-256 of the body, which is compared when the body has arrived;
/// - `MAC`: over all of that, the receiver's name, method, target and forwarded-for address; one for each key that the
///   receiver may have. Bytes are hexadecimal.
struct RelayProof: Equatable {
    let name: String
    /// ms since 1970.
    let time: Int64
    let nonce: [UInt8]
    let digest: [UInt8]
    let macs: [[UInt8]]

    /// More keys than these are not tried, neither by the sender nor by the receiver.
    static let maximumKeys = 4
    static let nonceLength = 16
    private static let maximumTextBytes = 1024

    init(name: String, time: Int64, nonce: [UInt8], digest: [UInt8], macs: [[UInt8]]) {
        self.name = name
        self.time = time
        self.nonce = nonce
        self.digest = digest
        self.macs = macs
    }

    /// Parses a proof; nil for anything that is not exactly of its form.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumTextBytes else { return nil }
        let fields = text.split(separator: ";", omittingEmptySubsequences: false)
        guard fields.count == 5, !fields[0].isEmpty, fields[0].utf8.count <= 64, let time = Int64(fields[1]),
            let nonce = Hex.decode(fields[2], count: Self.nonceLength), let digest = Hex.decode(fields[3], count: 32)
        else { return nil }
        let macs = fields[4].split(separator: ",", omittingEmptySubsequences: false).map { Hex.decode($0, count: 32) }
        guard (1...Self.maximumKeys).contains(macs.count), !macs.contains(nil) else { return nil }
        self.init(
            name: String(fields[0]), time: time, nonce: nonce, digest: digest, macs: macs.compactMap(\.self))
    }

    var text: String {
        let macs = self.macs.map(Hex.encode).joined(separator: ",")
        return "\(self.name);\(self.time);\(Hex.encode(self.nonce));\(Hex.encode(self.digest));\(macs)"
    }

    /// What a MAC is computed over. No field can contain a line break, so no two requests have the same text.
    func covered(_ request: RelayedRequest, to receiver: String) -> [UInt8] {
        let lines = [
            "touchsync relay 1", self.name, receiver, "\(self.time)", Hex.encode(self.nonce), Hex.encode(self.digest),
            request.method, request.target, request.forwardedFor,
        ]
        return Array(lines.joined(separator: "\n").utf8)
    }
}

/// Hexadecimal text, lower case.
enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Decodes exactly `count` bytes; nil for anything else.
    static func decode(_ text: Substring, count: Int) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count == 2 * count else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: characters.count, by: 2) {
            guard let high = Self.digits.firstIndex(of: characters[index]),
                let low = Self.digits.firstIndex(of: characters[index + 1])
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
