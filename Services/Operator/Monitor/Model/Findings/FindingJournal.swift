/// A trouble with its place, its reason and its time.
struct PipelineFinding: Sendable {
    let trouble: Trouble
    let daemon: ListedDaemon.Key
    /// A sentence for people, with figures; the latest one.
    var reason: String
    /// When it began, the last time if it has begun several times; milliseconds since 1970.
    let since: UInt64
    /// When it was over, milliseconds since 1970; nil while it lasts.
    var until: UInt64?
    /// How often it began without 15 minutes of rest in between.
    var times = 1
}

/// What is found now, and what was found in the last 15 minutes.
///
///     reported ──► open ──not reported──► over ──► forgotten after 15 minutes, or when 200 later ones are over
///                    ▲                     │
///                    └─reported within 5 s─┘
///
/// A daemon's trouble that comes and goes is one entry of what is over: the last time, and how often it began.
struct FindingJournal: Sendable {
    /// What lasts, in the order in which it began.
    private(set) var open: [PipelineFinding] = []
    /// What is over, the latest last.
    private(set) var past: [PipelineFinding] = []

    /// Milliseconds.
    private static let memory: UInt64 = 15 * 60 * 1000
    private static let relapse: UInt64 = 5000
    private static let maxPast = 200

    /// One thing that is wrong in this round.
    struct Report {
        let trouble: Trouble
        let daemon: ListedDaemon.Key
        let reason: String
    }

    /// A round is over, with these reports, at most one of each trouble and daemon.
    mutating func reported(_ reports: [Report], at now: UInt64) {
        for index in self.open.indices.reversed() {
            let finding = self.open[index]
            if let report = reports.first(where: { finding.isOf($0) }) {
                self.open[index].reason = report.reason
            } else {
                self.open.remove(at: index)
                self.end(finding, at: now)
            }
        }
        for report in reports where !self.open.contains(where: { $0.isOf(report) }) {
            let known = self.past.firstIndex { $0.isOf(report) && now < ($0.until ?? now) &+ Self.relapse }
            var finding = known.map { self.past.remove(at: $0) } ?? PipelineFinding(report, since: now)
            finding.reason = report.reason
            finding.until = nil
            self.open.append(finding)
        }
        self.past.removeAll { ($0.until ?? now) &+ Self.memory < now }
    }

    private mutating func end(_ finding: PipelineFinding, at now: UInt64) {
        var finding = finding
        finding.until = now
        if let index = self.past.firstIndex(where: { $0.trouble == finding.trouble && $0.daemon == finding.daemon }) {
            finding.times += self.past.remove(at: index).times
        }
        self.past.append(finding)
        if self.past.count > Self.maxPast { self.past.removeFirst() }
    }
}

extension PipelineFinding {
    fileprivate init(_ report: FindingJournal.Report, since: UInt64) {
        self.init(trouble: report.trouble, daemon: report.daemon, reason: report.reason, since: since)
    }

    fileprivate func isOf(_ report: FindingJournal.Report) -> Bool {
        self.trouble == report.trouble && self.daemon == report.daemon
    }
}
