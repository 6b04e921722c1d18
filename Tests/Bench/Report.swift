import JSONBytes

/// The results of one phase.
struct Report: Sendable {
    let preset: String
    let phase: Preset.Phase
    /// The duration of the measurement, nanoseconds.
    var elapsed: Int64 = 0
    var tally = Tally()
    var servers: [Server] = []
    /// Memory of all servers after the first second of the measurement, bytes.
    private var memoryAtFirst: Int64 = 0
    /// Bytes of all servers for each idle connection; nil unless this is the first load: busy servers have free memory.
    var memoryPerIdle: Double?
    /// Connections that were live at the end.
    var live = 0
    /// Commits without an answer two seconds after the end.
    var unanswered = 0
    /// The shares of the time that this program's thread was on a core, and was ready but had none.
    var ownLoad = 0.0
    var ownHunger = 0.0
    /// Why the last connection ended unexpectedly.
    var failure: String?

    init(_ preset: String, _ phase: Preset.Phase) {
        self.preset = preset
        self.phase = phase
    }

    var title: String { self.phase.name.isEmpty ? self.preset : "\(self.preset), \(self.phase.name)" }

    /// Samples all servers: when the measurement begins, and after each second.
    mutating func sampleServers() {
        for index in self.servers.indices { self.servers[index].sample() }
        if self.elapsed > 0, self.memoryAtFirst == 0 { self.memoryAtFirst = self.memory }
    }

    func perSecond(_ count: Int) -> Double { Double(count) * 1e9 / Double(max(1, self.elapsed)) }

    /// Previews that would arrive if none were folded or lost.
    var expectedPreviews: Int { Int((Double(self.tally.previewsSent) * self.phase.load.receivers).rounded()) }

    /// Microseconds of all servers for each of so many; nil without any.
    func cpu(per count: Int) -> Double? {
        count > 0 && !self.servers.isEmpty ? Double(self.servers.reduce(0) { $0 + $1.cpu }) / Double(count) : nil
    }

    private var memory: Int64 { self.servers.reduce(0) { $0 + $1.memory } }
    /// The servers' memory at the end as a multiple of that after the first second; nil when none is watched.
    var memoryGrowth: Double? { self.memoryAtFirst > 0 ? Double(self.memory) / Double(self.memoryAtFirst) : nil }

    /// Previews arrived fast enough, and hardly any was folded: a larger load is possible.
    var arrivedInTime: Bool {
        (self.tally.previewAge.milliseconds(99) ?? .infinity) <= 50
            && self.tally.previewsDelivered * 10 >= self.expectedPreviews * 9
    }

    /// What of these events the server lacked; empty when it had all.
    var omissions: [String] {
        let tally = self.tally
        let answers = tally.acknowledgement.count + tally.groupAcknowledgement.count + tally.refusals.count
        let stamped = self.phase.load.gesturePreviews == 0
        let found = [
            (self.expectedPreviews > 0 && tally.previewsDelivered == 0, "element:transforming to other members"),
            (tally.previewsDelivered > 0 && tally.previewAge.count == 0, "positions in element:transforming"),
            (tally.commitsSent > 0 && answers == 0, "the acknowledgement of element:transform"),
            (tally.commitsSent > 0 && tally.commitsDelivered == 0, "element:transformed to the members"),
            (tally.screen.count == 0 && stamped && tally.commitsDelivered > 0, "positions in element:transformed"),
        ]
        return found.filter(\.0).map(\.1)
    }

    /// How this program itself limited the load; empty when it did not.
    var bottlenecks: [String] {
        let late = self.tally.lateness.milliseconds(99) ?? 0
        let missed = self.tally.missedSends
        let due = self.tally.previewsSent + self.tally.commitsSent + missed
        let found = [
            (self.ownLoad > 0.9, "it used \(Number.short(self.ownLoad * 100)) % of a core, and has one thread"),
            (self.ownHunger > 0.2, "it had no core for \(Number.short(self.ownHunger * 100)) % of the time"),
            (late > 5, "its sends were late by \(Number.short(late)) ms (p99)"),
            (missed * 100 > due, "\(missed) sends that were due were not made"),
        ]
        return found.filter(\.0).map(\.1)
    }

    /// All reports as one line: `{"loads":[{"name":…,"phase":…,"cpuPerDelivery":…}]}`, with each ``Metric`` that was measured.
    static func json(_ reports: [Report]) -> String {
        let text = JSONWriter.text { writer in
            writer.objects("loads", reports) { report, writer in
                writer.member("name", report.preset)
                writer.member("phase", report.phase.name)
                for metric in Metric.allCases {
                    guard let value = metric.value(in: report) else { continue }
                    writer.key(string: metric.rawValue)
                    writer.value(value)
                }
            }
        }
        return String(decoding: text, as: UTF8.self) + "\n"
    }
}
