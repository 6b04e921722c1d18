internal import Boot

/// A coalescer is ready when it can pass both on: commits to a committer, previews to a fan-out.
struct CoalescerReadiness: Sendable {
    let committers: ReadinessCheck
    let fanouts: ReadinessCheck

    /// Says how many of each are up.
    func report(committers: Int, fanouts: Int) {
        if committers > 0 { self.committers.ready() } else { self.committers.notReady("no committer is up") }
        if fanouts > 0 { self.fanouts.ready() } else { self.fanouts.notReady("no fan-out is up") }
    }
}
