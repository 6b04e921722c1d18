import CoalescerCore
import Stages
import Timing
import Wire

/// A coalescer around its real core and routes.
final class CoalescerShell: Shell {
    private unowned let world: World
    private var core: Coalescer
    private let fanouts: [Link]
    private var gathering = GatheringLevels()
    private var previews: StageRoutes
    private var output: [Preview] = []

    init(_ process: Process, in world: World) {
        self.world = world
        self.core = Coalescer()
        self.previews = StageRoutes(world.outboxLimits(.previews))
        self.fanouts = world.links(of: process, to: .fanout)
        for link in self.fanouts where link.isListed {
            self.previews.follow(.added(link.index, name: link.server.name))
        }
    }

    func turn(_ inputs: [Input], at now: Instant) -> Instant? {
        for input in inputs { if let event = input.event?.event { self.previews.follow(event) } }
        for input in inputs { self.readGateway(input, now) }
        self.core.timeReached(now, into: &self.output)
        for preview in self.output { self.previews.append(latest: preview, ofShard: Shard.of(room: preview.room)) }
        self.output.removeAll(keepingCapacity: true)
        self.previews.outboxes.flush(at: now) { self.world.send($0.bytes, on: self.fanouts[$1]) }
        self.core.forgetSilent(at: now)
        return self.core.nextDeadline
    }

    private func readGateway(_ input: Input, _ now: Instant) {
        switch input {
        case .peerUp(let peer):
            self.gathering.peerUp(peer)
            self.reviewGathering()
        case .peerDown(let peer):
            self.gathering.peerDown(peer)
            self.reviewGathering()
        case .peerMessage(let peer, let bytes):
            self.world.walk(bytes) { (kind, fields) throws(EnvelopeError) in
                switch kind {
                case .preview:
                    let preview = try EnvelopeReader.decode(Preview.self, fields)
                    self.core.previewReceived(preview, at: now, into: &self.output)
                case .gestureEnd:
                    let end = try EnvelopeReader.decode(GestureEnd.self, fields)
                    self.core.gestureEnded(end)
                    self.previews.removePreviews(endedBy: end, ofShard: Shard.of(room: end.room))
                case .gatheringNotice:
                    self.gathering.noticeReceived(try EnvelopeReader.decode(GatheringNotice.self, fields), from: peer)
                    self.reviewGathering()
                default: break
                }
            }
        case .added, .removed, .up, .down, .resting, .message, .writable, .peerWritable, .database, .app: break
        }
    }

    private func reviewGathering() {
        self.core.gather(self.gathering.highest.window(upTo: self.core.longestWindow))
    }

    func count(into counts: inout [String: Int64]) {
        counts["previews.folded", default: 0] += Int64(self.core.counters.folded)
        counts["previews.cancelled", default: 0] += Int64(self.core.counters.cancelled)
    }
}
