internal import Boot
internal import Mesh
internal import Stages
internal import Timing

/// A coalescer is ready when it can forward both: commits to a committer, previews to a fan-out.
struct CoalescerReadiness: Sendable {
    let committers: ReadinessCheck
    let fanouts: ReadinessCheck
    private let patience: StartupPatience

    init(committers: ReadinessCheck, fanouts: ReadinessCheck, now: Instant = MonotonicClock.now()) {
        self.committers = committers
        self.fanouts = fanouts
        self.patience = StartupPatience(from: now)
    }

    /// Reports how many of each are up.
    func report(committers: StageLinks, fanouts: StageLinks, at now: Instant) {
        self.committers.report(self.patience.shortage(of: [(.committer, committers.owners)], at: now))
        self.fanouts.report(self.patience.shortage(of: [(.fanout, fanouts.owners)], at: now))
    }
}
