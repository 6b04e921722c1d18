/// What a history came to.
package struct Verdict: Sendable {
    /// One way in which the history is wrong.
    package struct Violation: Equatable, Sendable {
        /// What is wrong, in a few words.
        package var reason: String
        /// The records that show it, as places in the history.
        package var records: [Int]
    }

    /// What the check of one invariant found.
    package struct Finding: Sendable {
        /// How many things were checked; 0 means that the history says nothing about the invariant.
        package var checked = 0
        /// Every violation.
        package var violations: [Violation] = []

        mutating func violated(_ reason: String, _ records: [Int]) {
            self.violations.append(Violation(reason: reason, records: records))
        }

        mutating func expect(_ isTrue: Bool, _ reason: @autoclosure () -> String, _ records: @autoclosure () -> [Int]) {
            self.checked += 1
            if !isTrue { self.violated(reason(), records()) }
        }
    }

    /// What was found, for every invariant.
    package internal(set) var findings: [Invariant: Finding] = [:]
    /// How often what happened: the history's own counts, and those that follow from its records.
    package internal(set) var counts: [String: Int64] = [:]

    /// True when nothing is violated.
    package var isGood: Bool { self.findings.values.allSatisfy(\.violations.isEmpty) }

    /// The invariants that are violated.
    package var violated: [Invariant] {
        Invariant.allCases.filter { self.findings[$0].map { !$0.violations.isEmpty } ?? false }
    }

    /// The counts among `names` that are zero or missing.
    package func missing(_ names: [String]) -> [String] {
        names.filter { (self.counts[$0] ?? 0) <= 0 }
    }

    /// The counts, then one line for each invariant with its first three violations: what is wrong stands near the end,
    /// which is what a log of a failed run shows.
    package func report(of history: [HistoryRecord]) -> String {
        var text = ""
        for (name, value) in self.counts.sorted(by: { $0.key < $1.key }) { text += "\(name) \(value)\n" }
        for invariant in Invariant.allCases {
            let finding = self.findings[invariant] ?? Finding()
            text += "\(invariant.rawValue) \(invariant.title): checked \(finding.checked), "
            text += "violations \(finding.violations.count)\n"
            for violation in finding.violations.prefix(3) {
                text += "    \(violation.reason)\n"
                for record in violation.records where history.indices.contains(record) {
                    text += "        \(history[record].line)\n"
                }
            }
        }
        return text
    }
}
