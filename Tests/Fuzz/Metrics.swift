import Stages
import Timing

@testable import OperatorMonitor

/// Metrics of daemons: what is read can be written, and is the same when it is read again; figures stay within bounds.
@Sendable func fuzzMetrics(_ input: UnsafeRawBufferPointer) {
    guard let samples = try? Exposition.samples(Array(input)) else { return }
    let text = samples.map(line).joined()
    guard let again = try? Exposition.samples(Array(text.utf8)) else { fatalError("refuses its own text") }
    precondition(again.map(line) == samples.map(line), "does not come back")
    for stage in Stage.allCases {
        let sample = DaemonSample(stage: stage, health: DaemonHealth(), samples: samples)
        for (distribution, counts) in sample.distributions {
            precondition(counts.counts.count == counts.bounds.count + 1, "\(distribution) lacks a bucket")
            precondition(counts.quantile(0.99)?.isFinite ?? true, "\(distribution) has no finite quantile")
        }
        var history = PipelineHistory()
        let daemon = ListedDaemon(stage: stage, name: "d", pid: 1, admin: nil)
        for second in 1...3 as ClosedRange<UInt64> {
            let moment = ScrapeRound(now: .init(nanoseconds: second * 1_000_000_000), unixMilliseconds: second * 1000)
            history.scraped([(daemon, .answered(sample))], at: moment)
        }
        _ = history.json(since: 0)
    }
}

private func line(_ sample: ExpositionSample) -> String {
    let labels = sample.labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",")
    return "\(sample.name){\(labels)} \(number(sample.value))\n"
}

private func number(_ value: Double) -> String {
    value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Inf" : "+Inf") : "\(value)"
}

private func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n").replacing("\"", with: "\\\"")
}
