import Histogram

/// The counts and latencies of a measurement.
struct Tally: Sendable {
    var previewsSent = 0
    var previewsDelivered = 0
    /// Previews that arrived folded into later ones.
    var previewsFolded = 0
    var commitsSent = 0
    var commitsApplied = 0
    var commitsDelivered = 0
    /// Refused commits, by the code.
    var refusals: [String: Int] = [:]
    /// Sends that were due but not made: late by a second, without a connection, or without space in its buffer.
    var missedSends = 0
    /// Commits that were due while the connection's window was full.
    var heldCommits = 0
    var bytesIn = 0
    var bytesOut = 0
    /// Previews and commits that reached slow readers.
    var slowDelivered = 0
    /// Connections that ended unexpectedly; of those, slow readers'.
    var cuts = 0
    var slowCuts = 0

    /// From a preview's send time to its arrival, of the values that arrive.
    var previewAge = Latencies()
    /// From a commit to its acknowledgement.
    var acknowledgement = Latencies()
    var groupAcknowledgement = Latencies()
    /// From a commit to its arrival at a member.
    var screen = Latencies()
    /// From the time at which something was due to that at which it was sent.
    var lateness = Latencies()

    /// A commit was answered so many nanoseconds after it was sent.
    mutating func answered(_ answer: Answer, after latency: Int64, isGroup: Bool) {
        switch answer {
        case .refused(let code):
            self.refusals[code, default: 0] += 1
        case .applied where isGroup:
            self.groupAcknowledgement.record(latency)
        case .applied:
            self.commitsApplied += 1
            self.acknowledgement.record(latency)
        }
    }
}

/// Latencies of one kind, in microseconds with three digits, up to a minute.
struct Latencies: Sendable {
    private var histogram = Histogram<UInt32>(
        highestTrackableValue: 60_000_000, numberOfSignificantValueDigits: .three)

    var count: Int { Int(clamping: self.histogram.totalCount) }

    /// - Parameter time: nanoseconds; below 0 it counts as 0, above a minute as a minute.
    mutating func record(_ time: Int64) { self.histogram.record(UInt64(max(0, min(time / 1000, 60_000_000)))) }

    /// The value that this share, in percent, does not exceed; nil without any.
    func milliseconds(_ percent: Double) -> Double? {
        self.count == 0 ? nil : Double(self.histogram.valueAtPercentile(percent)) / 1000
    }
}
