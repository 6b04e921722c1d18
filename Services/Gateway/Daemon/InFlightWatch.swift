import Boot
import Timing

/// Measures how long the oldest commit has waited for its result, and notes for operators when that is long.
struct InFlightWatch {
    private let note: HealthNote
    private let telemetry: GatewayTelemetry

    /// What is long.
    private static let slow = Nanoseconds.seconds(2)

    init(note: HealthNote, telemetry: GatewayTelemetry) {
        self.note = note
        self.telemetry = telemetry
    }

    /// - Parameter age: of the oldest commit without a result.
    func review(_ age: Nanoseconds) {
        self.telemetry.inFlightOldest.set(age.seconds)
        let seconds = age.milliseconds / 1000
        self.note.say(age > Self.slow ? "commits have waited for their results for \(seconds) s" : nil)
    }
}
