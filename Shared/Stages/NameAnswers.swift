package import Timing

/// The addresses of a name that is looked up again and again, as a set that changes no more than it has to.
///
///     answer            set             why
///     a, b              a, b
///     (no answer)       a, b            a resolver that fails says nothing about instances
///     a                 a, b            an answer may be incomplete for a moment
///     a, c              a, b, c         whatever comes is there immediately
///     a, c, later       a, c            b was missing for `patience`
package struct NameAnswers: Sendable {
    private let patience: Nanoseconds
    /// The addresses of the set, each with the first answer in a row that did not list it; nil while answers list it.
    private var missingSince: [String: Instant?] = [:]

    /// An empty set.
    /// - Parameter patience: how long an address stays that answers do not list any more.
    package init(patience: Nanoseconds) {
        self.patience = patience
    }

    /// The present set, sorted.
    package var addresses: [String] { self.missingSince.keys.sorted() }

    /// The name was looked up.
    /// - Parameter answer: its addresses, at least one; a lookup that failed changes nothing and is not reported here.
    /// - Returns: true when the set changed.
    package mutating func answered(_ answer: [String], at now: Instant) -> Bool {
        let before = Set(self.missingSince.keys)
        for address in before.subtracting(answer) {
            let since = self.missingSince[address].flatMap(\.self) ?? now
            self.missingSince[address] = now >= since + self.patience ? nil : .some(since)
        }
        for address in answer { self.missingSince.updateValue(nil, forKey: address) }
        return Set(self.missingSince.keys) != before
    }
}
