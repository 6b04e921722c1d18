import Histogram

/// All that one load showed.
package struct BenchReport: Sendable {
    /// One server process over the measurement.
    package struct Server: Sendable, Equatable {
        package var name: String
        package var pid: Int
        /// CPU time, microseconds.
        package var cpu: Int64 = 0
        /// The largest resident memory seen, bytes.
        package var peakMemory: Int64 = 0
        /// Growth of resident memory while the idle connections came, bytes.
        package var idleMemory: Int64 = 0
        /// It ended.
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

        package init() {}

        /// What one second's tally shows.
        package init(_ tally: Tally) {
            func percentile(_ latencies: Tally.Latencies, _ share: Double) -> Int? {
                latencies.totalCount > 0 ? Int(clamping: latencies.valueAtPercentile(share)) : nil
            }
            self.deliveries = tally.delivered
            self.commits = tally.commitsApplied
            self.previewP50 = percentile(tally.previewAge, 50)
            self.previewP99 = percentile(tally.previewAge, 99)
            self.acknowledgementP99 = percentile(tally.acknowledgement, 99)
            self.screenP99 = percentile(tally.screen, 99)
        }
    }

    /// What the load is called.
    package var name: String
    package var load: Load
    /// Microseconds that were really measured.
    package var elapsed: Int64 = 0
    package var tally = Tally()
    package var servers: [Server] = []
    package var seconds: [Second] = []
    /// Connections that were live at the end.
    package var live = 0
    /// Commits that had no answer two seconds after the end.
    package var unanswered = 0
    /// The CPU time of this program, and the share of a core that its busiest loop took.
    package var ownCPU: Int64 = 0
    package var busiestLoop = 0.0
    /// The share of the time that one of its loops was ready to run, but without a core.
    package var hungriestLoop = 0.0
    /// Why the last connection ended that was not meant to.
    package var failure: String?
    /// An earlier load of this run had the same servers, whose memory then tells nothing about connections.
    package var followsAnother = false

    package init(name: String, load: Load) {
        self.name = name
        self.load = load
    }

    private var secondsElapsed: Double { max(1e-6, Double(self.elapsed) / 1e6) }

    /// Previews that would arrive if none were merged or lost.
    package var expectedPreviews: Int {
        let readers = self.load.members - self.load.slowPerRoom
        return self.tally.previewsSent * max(0, readers - 1)
    }
    package var deliveriesPerSecond: Double { Double(self.tally.delivered) / self.secondsElapsed }
    package var commitsPerSecond: Double { Double(self.tally.commitsApplied) / self.secondsElapsed }
    package var previewAge: LatencySummary { LatencySummary(self.tally.previewAge) }
    package var acknowledgement: LatencySummary { LatencySummary(self.tally.acknowledgement) }
    package var screen: LatencySummary { LatencySummary(self.tally.screen) }
    package var lateness: LatencySummary { LatencySummary(self.tally.lateness) }
    package var rejoin: LatencySummary { LatencySummary(self.tally.rejoin) }

    /// CPU time of all servers, microseconds; nil when none is watched.
    package var serverCPU: Int64? { self.servers.isEmpty ? nil : self.servers.reduce(0) { $0 + $1.cpu } }
    /// CPU-µs of all servers for each preview delivered; nil without either.
    package var cpuPerDelivery: Double? { self.perUnit(self.tally.previewsDelivered) }
    /// CPU-µs of all servers for each commit; nil without either.
    package var cpuPerCommit: Double? { self.perUnit(self.tally.commitsApplied) }
    /// Growth of the servers' resident memory for each idle connection, bytes; nil where that tells nothing. Servers that
    /// were busy before this program came have memory left too: only fresh ones give a true figure.
    package var memoryPerIdle: Double? {
        guard self.load.idle > 0, !self.servers.isEmpty, !self.followsAnother else { return nil }
        return Double(self.servers.reduce(0) { $0 + $1.idleMemory }) / Double(self.load.idle)
    }

    private func perUnit(_ count: Int) -> Double? {
        guard let cpu = self.serverCPU, count > 0 else { return nil }
        return Double(cpu) / Double(count)
    }

    /// In what this program itself stood in the way; empty when it did not.
    package var bottlenecks: [String] {
        var reasons: [String] = []
        if self.busiestLoop > 0.9 {
            reasons.append("its busiest loop used \(Figures.decimal(self.busiestLoop * 100, 0)) % of a core")
        }
        if self.lateness.p99 > 5000 {
            var reason = "its sends were late by \(Figures.milliseconds(self.lateness.p99)) ms (p99)"
            if self.hungriestLoop > 0.1 {
                reason += ", as it had no core for \(Figures.decimal(self.hungriestLoop * 100, 0)) % of the time"
            }
            reasons.append(reason)
        }
        let due = self.tally.previewsSent + self.tally.commitsSent + self.tally.missedSends
        if self.tally.missedSends * 100 > due {
            reasons.append("\(Figures.grouped(self.tally.missedSends)) sends that were due were not made")
        }
        return reasons
    }
}
