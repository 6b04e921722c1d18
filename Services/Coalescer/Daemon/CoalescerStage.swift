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

    /// More wait until due rooms have flushed.
    package static var envelopesPerTurn: Int { 32 }

    /// Collapses previews.
    package private(set) var coalescer: Coalescer
    /// What is on its way to fan-outs.
    package private(set) var previews: StageRoutes
    /// How long gateways ask previews to wait for each other.
    private var gathering = GatheringLevels()
    /// How long this daemon's own load asks for it.
    package var ownLevel = GatheringLevel.none { didSet { self.reviewGathering() } }
    private var output: [Preview] = []

    /// No links yet.
    package init(limits: CoalescerLimits = CoalescerLimits(), outboxes: OutboxLimits = .previews) {
        self.coalescer = Coalescer(limits: limits)
        self.previews = StageRoutes(outboxes)
    }

    package var nextDeadline: Instant? { self.coalescer.nextDeadline }

    package mutating func linkChanged(_ event: StageLinks.Event) { self.previews.follow(event) }

    package mutating func peerUp(_ peer: PeerID, name: String) {
        self.gathering.peerUp(peer)
        self.reviewGathering()
    }

    package mutating func peerDown(_ peer: PeerID, at now: Instant) {
        self.gathering.peerDown(peer)
        self.reviewGathering()
    }

    /// Nothing is sent to gateways.
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
        case .gatheringNotice:
            self.gathering.noticeReceived(try EnvelopeReader.decode(GatheringNotice.self, fields), from: peer)
            self.reviewGathering()
        default: break
        }
        return true
    }

    private mutating func reviewGathering() {
        self.coalescer.gather(max(self.ownLevel, self.gathering.highest).window(upTo: self.coalescer.longestWindow))
    }

    /// Held previews leave regardless of the pace.
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
