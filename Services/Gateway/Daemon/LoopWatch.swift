import GatewayCore
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Timing

/// Follows the event loop's passes.
final class LoopWatch: NIOEventLoopMetricsDelegate {
    private let passes = NIOLockedValueBox(LoopPasses())

    /// Something is handled.
    func handled(at now: NIODeadline) {
        self.passes.withLockedValue { $0.handled(at: Instant(nanoseconds: now.uptimeNanoseconds)) }
    }

    /// How long what is found now has waited on average.
    func lateness(at now: NIODeadline) -> Nanoseconds {
        self.passes.withLockedValue { $0.lateness(at: Instant(nanoseconds: now.uptimeNanoseconds)) }
    }

    func processedTick(info: NIOEventLoopTickInfo) {
        self.passes.withLockedValue { $0.passEnded(at: Instant(nanoseconds: info.endTime.uptimeNanoseconds)) }
    }
}
