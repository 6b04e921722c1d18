package import Histogram

/// The counts and latencies of one interval; times are microseconds.
package struct Tally: Sendable {
    package typealias Latencies = Histogram<UInt32>

    /// Latencies over a minute are recorded as a minute.
    static let longest: UInt64 = 60_000_000

    package var previewsSent = 0
    package var previewsDelivered = 0
    /// Previews that arrived folded into later ones.
    package var previewsFolded = 0
    package var commitsSent = 0
    package var commitsApplied = 0
    package var commitsDelivered = 0
    /// Refused commits.
    package var refusals: [Answer.Code: Int] = [:]
    /// Sends that were due but skipped: late by a second, or disconnected or without buffer space.
    package var missedSends = 0
    /// Commits that were due while the connection's window was full.
    package var heldCommits = 0
    package var bytesIn = 0
    package var bytesOut = 0
    /// Events of other kinds.
    package var otherEvents = 0
    /// Previews and commits that reached slow readers.
    package var slowDelivered = 0
    /// Connections that ended unexpectedly; of those, slow readers.
    package var cuts = 0
    package var slowCuts = 0

    /// From a preview's send time to its arrival, of the values that arrive.
    package var previewAge = Tally.latencies()
    /// From a commit to its acknowledgement.
    package var acknowledgement = Tally.latencies()
    /// From a group's commit to its acknowledgement.
    package var groupAcknowledgement = Tally.latencies()
    /// From a commit to its arrival at a member.
    package var screen = Tally.latencies()
    /// How late sends were relative to their deadlines.
    package var lateness = Tally.latencies()
    /// In a storm, from the cut of the connection to the end of the new join.
    package var rejoin = Tally.latencies()

    package init() {}

    private static func latencies() -> Latencies {
        Histogram(highestTrackableValue: Self.longest, numberOfSignificantValueDigits: .three)
    }

    /// Records a latency; negative values count as 0.
    static func record(_ microseconds: Int64, in latencies: inout Latencies) {
        latencies.record(UInt64(max(0, min(microseconds, Int64(Self.longest)))))
    }

    /// A preview arrived.
    /// - Parameter age: microseconds; nil when it is not this program's.
    mutating func previewArrived(age: Int64?, folded: Int, isSlow: Bool) {
        guard !isSlow else {
            self.slowDelivered += 1
            return
        }
        self.previewsDelivered += 1
        self.previewsFolded += folded - 1
        if let age { Self.record(age, in: &self.previewAge) }
    }

    /// A commit arrived.
    /// - Parameter age: microseconds; nil when it is not this program's.
    mutating func commitArrived(age: Int64?, isSlow: Bool) {
        guard !isSlow else {
            self.slowDelivered += 1
            return
        }
        self.commitsDelivered += 1
        if let age { Self.record(age, in: &self.screen) }
    }

    /// A commit was answered.
    /// - Parameter latency: microseconds.
    mutating func commitAnswered(_ answer: Answer, latency: Int64, isGroup: Bool = false) {
        switch answer {
        case .applied where isGroup:
            Self.record(latency, in: &self.groupAcknowledgement)
        case .applied:
            self.commitsApplied += 1
            Self.record(latency, in: &self.acknowledgement)
        case .refused(let code):
            self.refusals[code, default: 0] += 1
        }
    }

    /// Adds the counts of another interval.
    package mutating func add(_ other: Tally) {
        self.previewsSent += other.previewsSent
        self.previewsDelivered += other.previewsDelivered
        self.previewsFolded += other.previewsFolded
        self.commitsSent += other.commitsSent
        self.commitsApplied += other.commitsApplied
        self.commitsDelivered += other.commitsDelivered
        self.refusals.merge(other.refusals, uniquingKeysWith: +)
        self.missedSends += other.missedSends
        self.heldCommits += other.heldCommits
        self.bytesIn += other.bytesIn
        self.bytesOut += other.bytesOut
        self.otherEvents += other.otherEvents
        self.slowDelivered += other.slowDelivered
        self.cuts += other.cuts
        self.slowCuts += other.slowCuts
        self.previewAge.add(other.previewAge)
        self.acknowledgement.add(other.acknowledgement)
        self.groupAcknowledgement.add(other.groupAcknowledgement)
        self.screen.add(other.screen)
        self.lateness.add(other.lateness)
        self.rejoin.add(other.rejoin)
    }

    /// Previews and commits that arrived.
    package var delivered: Int { self.previewsDelivered + self.commitsDelivered }
}
