/// Selects the next load: the given ones in order, with numbers that depend on earlier results. Pure.
package struct LoadSequence: Sendable {
    private let loads: [NamedLoad]
    private let isFoundGiven: Bool
    private var place = 0
    /// The number of attempts in the present search.
    private var attempts = 0
    /// Senders per room of the largest load so far whose previews arrived in time.
    package private(set) var found: Int

    /// - Parameter sustainable: senders per room whose previews arrive in time; nil: search for it.
    package init(_ loads: [NamedLoad], sustainable: Int? = nil) {
        self.loads = loads
        self.isFoundGiven = sustainable != nil
        self.found = sustainable ?? 1
    }

    /// The next load; nil at the end.
    /// - Parameter report: of the previous load; nil at first.
    package mutating func next(after report: BenchReport?) -> NamedLoad? {
        if let report { self.ran(report) }
        while self.place < self.loads.count {
            var named = self.loads[self.place]
            switch named.senders {
            case .given:
                break
            case .tried(let numbers):
                guard !self.isFoundGiven, self.attempts < numbers.count else {
                    self.goOn()
                    continue
                }
                named.load.senders = numbers[self.attempts]
                named.phase = "trying \(numbers[self.attempts]) senders each"
            case .timesFound(let times):
                named.load.senders = min(named.load.members, self.found * times)
            }
            return named
        }
        return nil
    }

    private mutating func ran(_ report: BenchReport) {
        guard self.loads[self.place].isAttempt, report.arrivedInTime else { return self.goOn() }
        self.found = report.named.load.senders
        self.attempts += 1
    }

    private mutating func goOn() {
        self.place += 1
        self.attempts = 0
    }

    /// A load with connections for a load and all that continue it, whatever they send.
    package func crowd(of named: NamedLoad) -> Load {
        var crowd = named.load
        let followers = self.loads[min(self.loads.count, self.place + 1)...].prefix(while: \.continues)
        guard named.isAttempt || !followers.isEmpty else { return crowd }
        // The senders differ between phases, so every member is able to send.
        crowd.senders = crowd.members
        crowd.rate = max(1, crowd.rate)
        return crowd
    }
}
