import Wire

/// The parameters of `GET /api/rooms/{roomId}/history`.
struct HistoryParameters: Equatable {
    /// The page begins behind this number.
    let after: UInt64
    /// The most entries of the page.
    let limit: UInt16

    private static let defaultLimit: UInt16 = 50
    private static let limits: ClosedRange<UInt64> = 1...200
    /// The largest whole number that every JSON reader keeps exactly: 2^53 − 1.
    private static let numbers: ClosedRange<UInt64> = 0...((1 << 53) - 1)

    /// Reads them from the query.
    /// - Throws: a refusal that names the parameter at fault.
    init(after: String?, limit: String?) throws(Refusal) {
        self.after = try Self.number(after, "after", in: Self.numbers) ?? 0
        self.limit = try Self.number(limit, "limit", in: Self.limits).map(UInt16.init) ?? Self.defaultLimit
    }

    private static func number(
        _ text: String?, _ name: String, in range: ClosedRange<UInt64>
    ) throws(Refusal) -> UInt64? {
        guard let text else { return nil }
        // Digits only: the initialiser would accept a sign as well.
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = UInt64(text), range.contains(number)
        else {
            let bounds = "\(range.lowerBound) to \(range.upperBound)"
            throw Refusal(.invalid, "The parameter \(name) is a whole number from \(bounds).", field: name)
        }
        return number
    }
}
