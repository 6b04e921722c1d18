import GatewayCore
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Timing

/// Follows the event loop's passes.
final class LoopWatch: NIOEventLoopMetricsDelegate {
    private let passes = NIOLockedValueBox(LoopPasses())

    func handled(at now: NIODeadline) {
        self.passes.withLockedValue { $0.handled(at: Instant(now)) }
    }

    /// It was looked for, not only when the loop said so.
    func looked(at now: NIODeadline) {
        self.passes.withLockedValue { $0.looked(at: Instant(now)) }
    }

    /// How long what is found now has waited on average.
    func lateness(at now: Instant) -> Nanoseconds { self.passes.withLockedValue { $0.lateness(at: now) } }

    /// False when previews had their turn in this pass.
    func takePreviewTurn() -> Bool { self.passes.withLockedValue { $0.takePreviewTurn() } }

    func processedTick(info: NIOEventLoopTickInfo) {
        self.passes.withLockedValue { $0.passEnded(at: Instant(info.endTime)) }
    }
}
