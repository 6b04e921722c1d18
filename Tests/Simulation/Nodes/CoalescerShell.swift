import CoalescerCore
import CoalescerDaemon
import Mesh
import Stages
import Timing
import Wire

/// A coalescer around its real core and relay.
final class CoalescerShell: Shell {
    private unowned let world: World
    private var core: Coalescer
    private let fanouts: [Link]
    private var fanoutOwners = ShardOwners()
    private var gathering = GatheringLevels()
    private var relay = PreviewRelay()
    private var output: [Preview] = []

    init(_ process: Process, in world: World) {
        self.world = world
        self.core = Coalescer()
        self.fanouts = world.links(of: process, to: .fanout)
        for link in self.fanouts where link.isListed { self.added(link) }
    }

    func turn(_ inputs: [Input], at now: Instant) -> Instant? {
        for input in inputs { self.readLink(input) }
        for input in inputs { self.readGateway(input, now) }
        self.core.timeReached(now, into: &self.output)
        self.relay.send(&self.output, owners: self.fanoutOwners) { envelope, _, fanout in
            self.world.send(envelope, on: self.fanouts[fanout])
        } returned: { preview in
            self.core.sendFailed(preview, at: now)
        }
        self.core.forgetSilent(at: now)
        return self.core.nextDeadline
    }

    private func readLink(_ input: Input) {
        switch input {
        case .added(let link): self.added(link)
        case .removed(let link):
            self.fanoutOwners.remove(link.index)
            self.relay.removed(link.index)
        case .up(let link), .resting(let link): self.changed(link, isUp: true)
        case .down(let link): self.changed(link, isUp: false)
        case .message, .peerUp, .peerDown, .peerMessage, .database, .app: break
        }
    }

    private func added(_ link: Link) {
        self.fanoutOwners.add(link.index, named: link.server.name)
    }

    private func changed(_ link: Link, isUp: Bool) {
        self.fanoutOwners.changed(link.index, link.state(isUp: isUp))
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
                case .gestureEnd: self.core.gestureEnded(try EnvelopeReader.decode(GestureEnd.self, fields))
                case .gatheringNotice:
                    self.gathering.noticeReceived(try EnvelopeReader.decode(GatheringNotice.self, fields), from: peer)
                    self.reviewGathering()
                default: break
                }
            }
        case .added, .removed, .up, .down, .resting, .message, .database, .app: break
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
