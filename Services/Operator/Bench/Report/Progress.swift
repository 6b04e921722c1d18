import Glibc

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

    /// The rates of one second.
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
        let refused = tally.refusals.reduce(0, +)
        if refused > 0 { parts.append("\(Figures.grouped(refused)) refused") }
        if tally.cuts > 0 { parts.append("\(tally.cuts) cut") }
        return parts.isEmpty ? "nothing to send" : parts.joined(separator: ", ")
    }

    private func line(_ name: String, _ text: String) {
        if !self.isQuiet { Output.write("\(name) \(text)\n", to: STDERR_FILENO) }
    }
}

/// Writes whole texts to descriptors.
enum Output {
    @discardableResult
    static func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Creates or replaces a file.
    static func file(_ path: String, _ text: String) throws(BenchFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw BenchFailure("\(path) cannot be written") }
        defer { close(descriptor) }
        guard self.write(text, to: descriptor) else { throw BenchFailure("\(path) cannot be written") }
    }
}
