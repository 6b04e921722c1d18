/// How links notice that the other side is gone, and how they come back.
package struct LivenessSettings: Sendable, Equatable {
    /// A beat goes out when nothing else did for this long.
    package var beat = Duration.seconds(1)
    /// A peer that was not heard for this long is gone.
    package var silence = Duration.milliseconds(2500)
    /// After a connection the other side's hello must come within this time.
    package var helloLimit = Duration.seconds(2)
    /// The first wait before a lost link is opened again; doubled with every loss in a row, each wait drawn from its upper half.
    package var backoffMinimum = Duration.milliseconds(100)
    /// The longest wait.
    package var backoffMaximum = Duration.seconds(2)
    /// The defaults.
    package init() {}

    /// The first setting that makes no sense, in words; nil when all are good.
    package var problem: String? {
        if self.beat < .milliseconds(10) { return "beat must be at least 10 ms" }
        if self.silence < self.beat * 2 { return "silence must be at least two beats" }
        if self.helloLimit < .milliseconds(10) { return "helloLimit must be at least 10 ms" }
        if self.backoffMinimum < .milliseconds(1) { return "backoffMinimum must be at least 1 ms" }
        if self.backoffMaximum < self.backoffMinimum { return "backoffMaximum must not be below backoffMinimum" }
        return nil
    }
}
