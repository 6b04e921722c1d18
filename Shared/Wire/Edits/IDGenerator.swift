/// Makes ids for elements that apps create without one: `~TIME-COUNT-RANDOM`, in digits of base 36. They begin with the
/// time, since clients draw elements of one `zIndex` in the order of their ids: later ones lie on top of earlier ones. The
/// clients' own ids have the same form, and `~` sorts them above ids of letters and digits.
public struct IDGenerator: Sendable {
    private var random: SplitMix64
    /// What the latest id begins with, ms since 1970: eight digits until 2059, as of a clock that was not set.
    private var latest: Int64 = 78_364_164_096
    /// How many ids began with that before. 46,656 more have four digits.
    private var count = 0
    private static let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)

    /// A generator; the same seed gives the same ids.
    init(seed: UInt64) {
        self.random = SplitMix64(seed: seed)
    }

    /// A fresh id, larger than the one before.
    /// - Parameter seconds: the time since 1970.
    public mutating func next(at seconds: Int64) -> String {
        let time = seconds &* 1000
        self.count = time > self.latest ? 0 : self.count + 1
        self.latest = max(self.latest, time)
        return "~\(String(self.latest, radix: 36))-\(String(46_656 + self.count, radix: 36))-\(self.name())"
    }

    /// 20 random characters.
    private mutating func name() -> String {
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
