internal import Boot
internal import Mesh

/// A coalescer is ready when it can pass both on: commits to a committer, previews to a fan-out.
///
/// At the start all instances are waited for, for a moment: one that saw only some of the fan-outs would send previews
/// to another than the gateways have turned to.
struct CoalescerReadiness: Sendable {
    let committers: ReadinessCheck
    let fanouts: ReadinessCheck
    /// Until when instances that do not answer are waited for, ns.
    private let waitsUntil: UInt64
    /// How long that is, ns.
    private static let patience: UInt64 = 3_000_000_000

    init(committers: ReadinessCheck, fanouts: ReadinessCheck, now: UInt64 = MonotonicClock.now()) {
        self.committers = committers
        self.fanouts = fanouts
        self.waitsUntil = now + Self.patience
    }

    /// Says how many of each are up.
    func report(committers: Downstream, fanouts: Downstream, now: UInt64) {
        self.report(committers, self.committers, "committer", now)
        self.report(fanouts, self.fanouts, "fan-out", now)
    }

    private func report(_ stage: Downstream, _ check: ReadinessCheck, _ name: String, _ now: UInt64) {
        if stage.upCount == stage.names.count || (stage.upCount > 0 && now >= self.waitsUntil) {
            check.ready()
        } else {
            check.notReady(stage.upCount > 0 ? "some \(name)s do not answer yet" : "no \(name) is up")
        }
    }
}
