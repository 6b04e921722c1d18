internal import Stages

/// Judges one instance by its last rounds.
struct InstanceReview {
    private let history: InstanceHistory
    private let figures: FigureSet
    private(set) var reports: [FindingJournal.Report] = []

    /// A commit that waits longer is worth attention, seconds; previews are held for much less.
    private static let slowCommit = 1.0
    private static let slowPreview = 0.5
    /// Rounds in a row after which a condition that is normal for a moment is worth attention.
    private static let patience = 3

    init(_ history: InstanceHistory) {
        self.history = history
        self.figures = history.figures
        self.reviewCondition()
        guard let health = history.sample?.health, case .answered = history.outcome else { return }
        self.reviewHealth(health)
        self.reviewStage()
        self.reviewProcess()
        self.reviewDrops()
    }

    private mutating func report(_ trouble: Trouble, _ reason: String) {
        guard !self.reports.contains(where: { $0.trouble == trouble }) else { return }
        self.reports.append(
            FindingJournal.Report(trouble: trouble, daemon: self.history.daemon.key, reason: reason))
    }

    // MARK: What the daemon says

    private mutating func reviewCondition() {
        switch self.history.outcome {
        case .notRunning: self.report(.daemonDown, "The process does not run.")
        case .unreachable(let reason): self.report(.daemonDown, "No connection to its admin server: \(reason).")
        case .silent: self.report(.daemonSilent, "Its admin server gives no answer: the process is frozen or starved.")
        case .garbled(let reason): self.report(.metricsUnreadable, reason)
        case .answered, .starting: break
        }
    }

    private mutating func reviewHealth(_ health: DaemonHealth) {
        if !health.stalled.isEmpty {
            self.report(.loopStalled, Self.sentence(health.stalled.joined(separator: "; ")))
        }
        if !health.isReady {
            let reasons = health.reasons.map { "\($0.check): \($0.text)" }.joined(separator: "; ")
            self.report(.daemonNotReady, Self.sentence(reasons.isEmpty ? "it gives no reason" : reasons))
        }
        for note in health.notes {
            switch note.check {
            case "commits": self.report(.commitsWait, Self.sentence(note.text))
            case "rules of committers": self.report(.rulesDiffer, Self.sentence(note.text))
            case "rules", "keys", "revocations", "certificates", "peers":
                self.report(.fileRefused, Self.sentence(note.text))
            case "coalescers", "committers", "fanouts": self.report(.setStale, Self.sentence(note.text))
            default: self.report(.noted, Self.sentence("\(note.check): \(note.text)"))
            }
        }
    }

    // MARK: What its figures say

    private mutating func reviewStage() {
        switch self.history.daemon.stage {
        case .gateway: self.reviewGateway()
        case .coalescer: self.reviewCoalescer()
        case .committer: self.reviewCommitter()
        case .fanout: self.reviewFanout()
        }
    }

    private mutating func reviewGateway() {
        self.reviewCommits(.commitsWait, "for their results")
        self.reviewCredit()
        let slow = self.figures.known(.slowApps)
        let behind = self.history.recent(5).contains { $0.figures.known(.slowMembers) > 0 }
        if slow >= 1 {
            self.report(.slowApps, "\(Self.count(slow, "app does", "apps do")) not read what is sent to them.")
        } else if behind {
            self.report(.slowApps, "Apps read so slowly that they must join their rooms again.")
        }
        let intervals: [(PipelineFigure, String)] = [
            (.roomsAt33, "every 33 ms"), (.roomsAt66, "every 66 ms"), (.roomsAt200, "every 200 ms"),
        ]
        let slowed = intervals.filter { self.figures.known($0.0) >= 1 }
            .map { "\(Self.whole(self.figures.known($0.0))) \($0.1)" }
        if !slowed.isEmpty {
            self.report(.roomsSlowed, "Rooms get previews less often: \(slowed.joined(separator: ", ")).")
        }
    }

    private mutating func reviewCoalescer() {
        self.reviewCredit()
        let age = self.figures.known(.previewQueueAge)
        if age > Self.slowPreview { self.report(.previewsWait, "Previews have waited for \(Self.seconds(age)).") }
    }

    private mutating func reviewCommitter() {
        self.reviewDatabase()
        guard self.figures.known(.databaseConnections) >= 1 else { return }
        self.reviewCommits(.slowDatabase, "for PostgreSQL")
    }

    private mutating func reviewFanout() {
        self.reviewDatabase()
        let recent = self.history.recent(Self.patience)
        if recent.count == Self.patience, recent.allSatisfy({ $0.figures.known(.shardLag) >= 1 }) {
            self.report(.fanoutBehind, "A shard is \(Self.whole(self.figures.known(.shardLag))) updates behind.")
        }
        if recent.count == Self.patience, recent.allSatisfy({ $0.figures.known(.peersBlocked) >= 1 }) {
            let blocked = Self.count(self.figures.known(.peersBlocked), "gateway accepts", "gateways accept")
            self.report(.gatewayBlocked, "\(blocked) nothing more at present.")
        }
        if self.figures.known(.rulesDiffering) >= 1 {
            let others = Self.count(self.figures.known(.rulesDiffering), "committer has", "committers have")
            self.report(.rulesDiffer, "\(others) other rules.")
        }
        self.reviewRules()
    }

    private mutating func reviewCommits(_ trouble: Trouble, _ what: String) {
        let age = self.figures.known(.queueAge)
        guard age > Self.slowCommit else { return }
        let commits = Self.count(max(1, self.figures.known(.queueCommits)), "commit waits", "commits wait")
        self.report(trouble, "\(commits) \(what), the oldest for \(Self.seconds(age)).")
    }

    private mutating func reviewCredit() {
        let recent = self.history.recent(Self.patience)
        guard recent.count == Self.patience, recent.allSatisfy({ $0.figures.known(.lanesClosed) >= 1 }) else { return }
        let lanes = Self.count(self.figures.known(.lanesClosed), "neighbour grants", "neighbours grant")
        self.report(.noCredit, "\(lanes) no more commits.")
    }

    private mutating func reviewDatabase() {
        if self.history.daemon.stage == .committer { self.reviewRules() }
        guard let connections = self.figures[.databaseConnections], connections < 1 else { return }
        self.report(.noDatabase, "It has no connection to PostgreSQL.")
    }

    private mutating func reviewRules() {
        if self.figures.known(.rulesRefused) >= 1 {
            self.report(.fileRefused, "Its rules file is refused; the rules in force stay.")
        }
    }

    private mutating func reviewProcess() {
        guard let open = self.figures[.openDescriptors], let limit = self.figures[.maxDescriptors], limit > 0,
            open > limit * 0.9
        else { return }
        self.report(.fewDescriptors, "\(Self.whole(open)) of \(Self.whole(limit)) descriptors are open.")
    }

    private mutating func reviewDrops() {
        let drops = self.history.drops(over: 5).sorted { $0.key < $1.key }
        let links = drops.filter { drop in
            ["link_refusals", "records_refused"].contains { drop.key.hasPrefix($0) }
        }
        // What is refused at admission is not lost, and apps' own limits are their own.
        let records = drops.filter { drop in
            ["previews_", "envelopes_", "updates_", "results_", "commits_", "gateway_overflows"]
                .contains { drop.key.hasPrefix($0) } && !Self.isNormal(drop.key)
        }
        if !links.isEmpty { self.report(.linksRefused, Self.sentence(Self.list(links))) }
        if !records.isEmpty { self.report(.recordsDropped, Self.sentence(Self.list(records))) }
    }

    /// Previews that nobody could see are dropped in the best of pipelines.
    private static func isNormal(_ kind: String) -> Bool {
        ["no_room", "no_element", "locked", "no_place", "closed", "superseded", "empty"]
            .contains { kind == "previews_dropped: \($0)" }
    }

    // MARK: Words

    private static func sentence(_ text: String) -> String { "\(text.prefix(1).uppercased())\(text.dropFirst())." }

    private static func list(_ drops: [(key: String, value: Double)]) -> String {
        drops.map { "\($0.key.replacing("_", with: " ")): \(self.rate($0.value)) a second" }.joined(separator: ", ")
    }

    private static func rate(_ value: Double) -> String {
        value >= 10 ? "\(self.whole(value))" : "\((value * 10).rounded(.up) / 10)"
    }

    /// A figure may be any number, an infinite one too.
    private static func whole(_ value: Double) -> Int { Int(min(max(value, 0), 1e9)) }

    private static func count(_ count: Double, _ one: String, _ many: String) -> String {
        "\(self.whole(count)) \(count < 2 ? one : many)"
    }

    private static func seconds(_ value: Double) -> String { "\((min(value, 1e6) * 10).rounded() / 10) s" }
}
