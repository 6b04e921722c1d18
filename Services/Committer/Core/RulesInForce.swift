import Canvas

/// The rules by which commits are decided, and the former ones: a repeated commit gets the adjustments of those by which
/// it was decided first.
struct RulesInForce: Sendable {
    /// How many former tables are kept.
    private static let kept = 8

    /// The rules for new decisions.
    private(set) var current: RulesTable
    /// Those before, the latest first.
    private var former: [RulesTable] = []

    init(_ rules: RulesTable) {
        self.current = rules
    }

    mutating func change(to rules: RulesTable) {
        self.former.insert(self.current, at: 0)
        if self.former.count > Self.kept { self.former.removeLast() }
        self.current = rules
    }

    /// The latest rules that fulfil a condition; the current ones if none do.
    func first(where isDecisive: (RulesTable) -> Bool) -> RulesTable {
        // Rules hardly ever change: then there is nothing to compare.
        if self.former.isEmpty || isDecisive(self.current) { return self.current }
        return self.former.first(where: isDecisive) ?? self.current
    }
}
