package import Boot
package import Timing

/// The instances of a name that is looked up again and again, as a set that changes no more than it has to.
///
///     answer            set             why
///     a, b              a, b
///     (no answer)       a, b            a resolver that fails says nothing about instances
///     a                 a, b            an answer may be incomplete for a moment
///     a, c              a, b, c         whatever comes is there immediately
///     a, c, later       a, c            b was missing for `patience`
///     a elsewhere, c    a elsewhere, c  an instance has one address
package struct NameAnswers: Sendable {
    private struct Known {
        let instance: DNSInstance
        /// The first answer in a row that did not list it; nil while answers list it.
        var missingSince: Instant?
    }

    private let patience: Nanoseconds
    private var known: [String: Known] = [:]

    /// An empty set.
    /// - Parameter patience: how long an instance stays that answers do not list any more.
    package init(patience: Nanoseconds) {
        self.patience = patience
    }

    /// The present set, sorted by name.
    package var instances: [DNSInstance] { self.known.values.map(\.instance).sorted { $0.name < $1.name } }

    /// The name was looked up.
    /// - Parameter answer: its instances, at least one, each name once; a lookup that failed changes nothing and is not
    ///   reported here.
    package mutating func answered(_ answer: [DNSInstance], at now: Instant) {
        for name in Set(self.known.keys).subtracting(answer.map(\.name)) {
            let since = self.known[name]?.missingSince ?? now
            self.known[name]?.missingSince = since
            if now >= since + self.patience { self.known[name] = nil }
        }
        for instance in answer { self.known[instance.name] = Known(instance: instance, missingSince: nil) }
    }
}
