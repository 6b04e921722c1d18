/// How links detect that the other side is gone, and how they reconnect.
package struct LivenessSettings: Sendable, Equatable {
    /// The interval after which a beat is sent if nothing else was.
    package var beat = Duration.seconds(1)
    /// A peer that was not heard for this long counts as gone.
    package var silence = Duration.milliseconds(2500)
    /// The other side's hello must arrive within this time after connecting.
    package var helloLimit = Duration.seconds(2)
    /// The first delay before a lost link is reopened; doubled with every loss in a row, each delay drawn from its
    /// upper half.
    package var backoffMinimum = Duration.milliseconds(100)
    package var backoffMaximum = Duration.seconds(2)
    package init() {}

    /// The first invalid setting, in words; nil when all are valid.
    package var problem: String? {
        if self.beat < .milliseconds(10) { return "beat must be at least 10 ms" }
        if self.silence < self.beat * 2 { return "silence must be at least two beats" }
        if self.helloLimit < .milliseconds(10) { return "helloLimit must be at least 10 ms" }
        if self.backoffMinimum < .milliseconds(1) { return "backoffMinimum must be at least 1 ms" }
        if self.backoffMaximum < self.backoffMinimum { return "backoffMaximum must not be below backoffMinimum" }
        return nil
    }
}
