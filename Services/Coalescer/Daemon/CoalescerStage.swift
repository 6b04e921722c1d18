package import CoalescerCore
package import Mesh
package import Stages
package import Timing
package import Trust
package import Wire

/// The coalescer's core between the gateways and the fan-outs.
package struct CoalescerStage: StageCore {
    package typealias Request = Never
    package typealias News = Never

    /// More wait until what is due has left.
    package static var envelopesPerTurn: Int { 32 }

    /// Collapses previews.
    package private(set) var coalescer: Coalescer
    /// What is on its way to fan-outs.
    package private(set) var previews: StageRoutes
    private var output: [Preview] = []

    /// No links yet.
    package init(limits: CoalescerLimits = CoalescerLimits(), outboxes: OutboxLimits = .previews) {
        self.coalescer = Coalescer(limits: limits)
        self.previews = StageRoutes(outboxes)
    }

    package var nextDeadline: Instant? { self.coalescer.nextDeadline }

    package mutating func linkChanged(_ event: StageLinks.Event) { self.previews.follow(event) }

    /// Nothing is sent to gateways.
    package mutating func peerUp(_ peer: PeerID, name: String) {}
    package mutating func peerDown(_ peer: PeerID, at now: Instant) {}
    package mutating func peerWritable(_ peer: PeerID) {}

    package mutating func received(
        _ kind: RecordKind, _ fields: ByteReader, from peer: PeerID, as roles: PeerRoles, at now: Instant
    ) throws(EnvelopeError) -> Bool {
        switch kind {
        case .preview:
            self.coalescer.previewReceived(
                try EnvelopeReader.decode(Preview.self, fields), at: now, into: &self.output)
        case .gestureEnd:
            let end = try EnvelopeReader.decode(GestureEnd.self, fields)
            self.coalescer.gestureEnded(end)
            self.previews.removePreviews(endedBy: end, ofShard: Shard.of(room: end.room))
        default: break
        }
        return true
    }

    /// Held previews leave regardless of their rates.
    package mutating func drain(at now: Instant) { self.coalescer.flush(at: now, into: &self.output) }

    package mutating func work(at now: Instant, time: Double, ask: (Never) -> Bool) {
        self.coalescer.timeReached(now, into: &self.output)
        for preview in self.output { self.previews.append(latest: preview, ofShard: Shard.of(room: preview.room)) }
        self.output.removeAll(keepingCapacity: true)
        self.coalescer.forgetSilent(at: now)
    }

    package mutating func flush(at now: Instant, over transport: some StageTransport) {
        self.previews.outboxes.flush(at: now) { transport.send($0, on: $1) }
    }
}
