import Canvas
import CoalescerCore
import PipelineTestKit
import Timing
import TimingTestKit
import Wire

/// One tick.
let tick = Nanoseconds.milliseconds(16)

/// A moment in milliseconds after the start of the coalescer's clock.
func ms(_ value: Double) -> Instant { Instant(nanoseconds: UInt64(value * 1_000_000)) }

/// A span in milliseconds.
func ms(_ value: Double) -> Nanoseconds { Nanoseconds(UInt64(value * 1_000_000)) }

/// A preview with what a test does not care about filled in.
func preview(
    _ element: Identifier = "e", room: Identifier = "r", by connection: UInt64 = 1, gesture: UInt64 = 1,
    x: Double? = nil, y: Double? = nil, rotation: Double? = nil, after: UInt64 = 0, folded: UInt32 = 1,
    sinceLast: UInt32 = 0, sid: Identifier = "s"
) -> Preview {
    Preview(
        room: room, element: element, connection: connection, user: "u", sid: sid, gesture: gesture, after: after,
        folded: folded, sinceLast: sinceLast,
        fields: TransformFields(positionX: x, positionY: y, rotation: rotation))
}

/// The end of a gesture by a commit.
func end(
    _ element: Identifier = "e", room: Identifier = "r", by connection: UInt64 = 1, gesture: UInt64 = 1,
    sid: Identifier = "s"
) -> GestureEnd {
    GestureEnd(room: room, element: element, user: "u", sid: sid, gesture: gesture, connection: connection)
}

extension Coalescer {
    /// A coalescer without credit, for tests of what is held: a key's second preview always waits.
    static func strict() -> Coalescer {
        Coalescer(limits: CoalescerLimits(credit: 0))
    }

    /// The preview's outcome alone, for lines that expect nothing to leave.
    mutating func received(_ preview: Preview, at now: Instant) -> (PreviewOutcome, [Preview]) {
        var output: [Preview] = []
        let outcome = self.previewReceived(preview, at: now, into: &output)
        return (outcome, output)
    }

    /// What leaves when time comes to `now`.
    mutating func leaving(at now: Instant) -> [Preview] {
        var output: [Preview] = []
        self.timeReached(now, into: &output)
        return output
    }
}
