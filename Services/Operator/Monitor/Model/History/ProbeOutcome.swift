internal import Timing

/// The moment of a round of scraping, on both clocks: one measures spans, the other is shown to people.
struct ScrapeRound: Sendable {
    let now: Instant
    /// Milliseconds since 1970.
    let unixMilliseconds: UInt64
}

/// What became of asking a daemon for its pages.
enum ProbeOutcome: Sendable {
    case answered(DaemonSample)
    /// The connection was accepted, or is still awaited, and no whole answer came in time.
    case silent
    /// There is no connection to be had.
    case unreachable(String)
    /// It answers something that is not a daemon's answer.
    case garbled(String)
    /// Nobody was asked: whoever starts the daemons says that it does not run, or that it is still starting.
    case notRunning, starting
}

/// How an instance is. In JSON by its raw value.
enum InstanceCondition: String, Sendable {
    case ready, starting, notReady, stalled, garbled, silent, unreachable, stopped

    var isWell: Bool { self == .ready }

    init(_ outcome: ProbeOutcome) {
        self =
            switch outcome {
            case .answered(let sample):
                !sample.health.stalled.isEmpty ? .stalled : sample.health.isReady ? .ready : .notReady
            case .silent: .silent
            case .unreachable: .unreachable
            case .garbled: .garbled
            case .notRunning: .stopped
            case .starting: .starting
            }
    }
}
