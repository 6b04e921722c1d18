/// Makes ids for elements that apps create without one.
public struct IDGenerator: Sendable {
    private var random: SplitMix64
    private static let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)

    /// A generator; the same seed gives the same ids.
    init(seed: UInt64) {
        self.random = SplitMix64(seed: seed)
    }

    /// A fresh id of 20 characters.
    public mutating func next() -> String {
        var characters: [UInt8] = []
        for _ in 0..<2 {
            var bits = self.random.next()
            for _ in 0..<10 {
                characters.append(Self.alphabet[Int(bits % 36)])
                bits /= 36
            }
        }
        return String(decoding: characters, as: UTF8.self)
    }
}
