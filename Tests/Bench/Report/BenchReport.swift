import Histogram

/// The results of one load.
package struct BenchReport: Sendable {
    /// One server process over the measurement.
    package struct Server: Sendable, Equatable {
        package var name: String
        package var pid: Int
        /// CPU time, microseconds.
        package var cpu: Int64 = 0
        /// The largest resident memory seen, bytes.
        package var peakMemory: Int64 = 0
        /// Growth of resident memory while the idle connections were made, bytes.
        package var idleMemory: Int64 = 0
        /// The process ended.
        package var isGone = false

        package init(_ process: WatchedProcess) {
            self.name = process.name
            self.pid = process.pid
        }
    }

    /// One second of the measurement.
    package struct Second: Sendable, Equatable {
        package var deliveries = 0
        package var commits = 0
        /// Microseconds; nil when nothing arrived.
        package var previewP50: Int?
        package var previewP99: Int?
        package var acknowledgementP99: Int?
        package var screenP99: Int?
        /// Resident memory of all servers at its end, bytes.
        package var memory: Int64 = 0

        package init() {}

        /// The values of one second's tally.
        package init(_ tally: Tally, memory: Int64) {
            func percentile(_ latencies: Tally.Latencies, _ share: Double) -> Int? {
                latencies.totalCount > 0 ? Int(clamping: latencies.valueAtPercentile(share)) : nil
            }
            self.deliveries = tally.delivered
            self.commits = tally.commitsApplied
            self.previewP50 = percentile(tally.previewAge, 50)
            self.previewP99 = percentile(tally.previewAge, 99)
            self.acknowledgementP99 = percentile(tally.acknowledgement, 99)
            self.screenP99 = percentile(tally.screen, 99)
            self.memory = memory
        }
    }

    /// The load.
    package let named: NamedLoad
    /// The actual duration of the measurement, microseconds.
    package var elapsed: Int64 = 0
    package var tally = Tally()
    package var servers: [Server] = []
    package var seconds: [Second] = []
    /// Connections that were live at the end.
    package var live = 0
    /// Commits without an answer two seconds after the end.
    package var unanswered = 0
    /// The CPU time of this program, microseconds, and the share of a core that its working thread used.
    package var ownCPU: Int64 = 0
    package var ownLoad = 0.0
    /// The share of the time that this thread was runnable without a core.
    package var ownHunger = 0.0
    /// Members that had to join again because they read too slowly, as reported by the servers; nil when unknown.
    package var slowMembers: Int?
    /// Why the last connection ended unexpectedly.
    package var failure: String?
    /// An earlier load of this run used the same servers, so their memory is not conclusive about connections.
    package var followsAnother = false

    package init(_ named: NamedLoad) {
        self.named = named
    }

    package var load: Load { self.named.load }

    private var secondsElapsed: Double { max(1e-6, Double(self.elapsed) / 1e6) }

    /// Previews that would arrive if none were folded or lost.
    package var expectedPreviews: Int {
        let readers = self.load.members - self.load.slowPerRoom
        return self.tally.previewsSent * max(0, readers - 1)
    }
    package var deliveriesPerSecond: Double { Double(self.tally.delivered) / self.secondsElapsed }
    package var commitsPerSecond: Double { Double(self.tally.commitsApplied) / self.secondsElapsed }
    package var previewAge: LatencySummary { LatencySummary(self.tally.previewAge) }
    package var acknowledgement: LatencySummary { LatencySummary(self.tally.acknowledgement) }
    package var groupAcknowledgement: LatencySummary { LatencySummary(self.tally.groupAcknowledgement) }
    package var screen: LatencySummary { LatencySummary(self.tally.screen) }
    package var lateness: LatencySummary { LatencySummary(self.tally.lateness) }
    package var rejoin: LatencySummary { LatencySummary(self.tally.rejoin) }

    /// CPU time of all servers, microseconds; nil when none is watched.
    package var serverCPU: Int64? { self.servers.isEmpty ? nil : self.servers.reduce(0) { $0 + $1.cpu } }
    /// CPU-µs of all servers for each preview delivered; nil without either.
    package var cpuPerDelivery: Double? { self.perUnit(self.tally.previewsDelivered) }
    /// CPU-µs of all servers for each commit; nil without either.
    package var cpuPerCommit: Double? { self.perUnit(self.tally.commitsApplied) }
    /// Growth of the servers' resident memory for each idle connection, bytes; nil when inconclusive. Servers that were
    /// busy before this run have free memory too: only fresh ones yield a true value.
    package var memoryPerIdle: Double? {
        guard self.load.idle > 0, !self.servers.isEmpty, !self.followsAnother else { return nil }
        return Double(self.servers.reduce(0) { $0 + $1.idleMemory }) / Double(self.load.idle)
    }

    /// The servers' memory at the end as a multiple of that after the first second; nil when none is watched.
    package var memoryGrowth: Double? {
        guard let first = self.seconds.first?.memory, let last = self.seconds.last?.memory, first > 0 else {
            return nil
        }
        return Double(last) / Double(first)
    }

    /// Previews arrived fast enough, and hardly any was folded: a larger load is possible.
    package var arrivedInTime: Bool {
        self.previewAge.count > 0 && self.previewAge.p99 <= 50_000
            && self.tally.previewsDelivered * 10 >= self.expectedPreviews * 9
    }

    /// Features of these events that the server lacked; empty when it had all.
    package var omissions: [String] {
        let tally = self.tally
        var missing: [String] = []
        if self.expectedPreviews > 0, tally.previewsDelivered == 0 {
            missing.append("no element:transforming reached the room's other members")
        } else if tally.previewsDelivered > 0, self.previewAge.count == 0 {
            missing.append("element:transforming came without the positions that were sent, which carry the time")
        }
        guard tally.commitsSent > 0 else { return missing }
        if tally.commitsApplied == 0, tally.refusals.isEmpty {
            missing.append("no element:transform was acknowledged")
        }
        if tally.commitsDelivered == 0 {
            missing.append("no element:transformed reached the room's members")
        } else if self.screen.count == 0 {
            missing.append("element:transformed came without the positions that were sent, which carry the time")
        }
        return missing
    }

    private func perUnit(_ count: Int) -> Double? {
        guard let cpu = self.serverCPU, count > 0 else { return nil }
        return Double(cpu) / Double(count)
    }

    /// How this program itself limited the load; empty when it did not.
    package var bottlenecks: [String] {
        var reasons: [String] = []
        if self.ownLoad > 0.9 {
            reasons.append("it used \(Figures.decimal(self.ownLoad * 100, 0)) % of a core, and has one thread")
        }
        if self.ownHunger > 0.2 {
            reasons.append("it had no core for \(Figures.decimal(self.ownHunger * 100, 0)) % of the time")
        }
        if self.lateness.p99 > 5000 {
            reasons.append("its sends were late by \(Figures.milliseconds(self.lateness.p99)) ms (p99)")
        }
        let due = self.tally.previewsSent + self.tally.commitsSent + self.tally.missedSends
        if self.tally.missedSends * 100 > due {
            reasons.append("\(Figures.grouped(self.tally.missedSends)) sends that were due were not made")
        }
        return reasons
    }
}
