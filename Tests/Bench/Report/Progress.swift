import Boot

/// The progress lines of a running load, on standard error.
struct Progress: Sendable {
    let isQuiet: Bool

    /// - Parameter obstacle: why there are no more of them, if known.
    func connecting(_ name: String, _ live: Int, of wanted: Int, _ obstacle: String?) {
        let reason = obstacle.map { " (\($0))" } ?? ""
        self.line(name, "connecting: \(Figures.grouped(live)) of \(Figures.grouped(wanted))\(reason)")
    }

    func warmUp(_ name: String, _ second: Int, of seconds: Int, _ taken: LoadLoop.Interval) {
        self.line(name, "warming up \(second)/\(seconds) s: \(Self.rates(taken.tally))")
    }

    func second(_ name: String, _ second: Int, of seconds: Int, _ taken: LoadLoop.Interval) {
        self.line(name, "\(second)/\(seconds) s: \(taken.live) connected, \(Self.rates(taken.tally))")
    }

    static func rates(_ tally: Tally) -> String {
        var parts: [String] = []
        if tally.previewsSent + tally.previewsDelivered > 0 {
            let age = LatencySummary(tally.previewAge)
            parts.append(
                "\(Figures.grouped(tally.previewsSent)) previews → \(Figures.grouped(tally.previewsDelivered))")
            let figures = [age.p50, age.p99, age.max].map(Figures.milliseconds)
            parts.append("age \(figures.joined(separator: "/")) ms")
        }
        if tally.commitsSent + tally.commitsApplied > 0 {
            let latency = LatencySummary(tally.acknowledgement)
            parts.append("\(Figures.grouped(tally.commitsApplied)) commits")
            parts.append("ack \(Figures.milliseconds(latency.p50))/\(Figures.milliseconds(latency.p99)) ms")
        }
        let refused = tally.refusals.values.reduce(0, +)
        if refused > 0 { parts.append("\(Figures.grouped(refused)) refused") }
        if tally.cuts > 0 { parts.append("\(tally.cuts) cut") }
        return parts.isEmpty ? "nothing to send" : parts.joined(separator: ", ")
    }

    private func line(_ name: String, _ text: String) {
        if !self.isQuiet { ProcessSetup.complain("\(name) \(text)\n") }
    }
}
