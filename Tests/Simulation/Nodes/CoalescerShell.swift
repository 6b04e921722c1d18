import CoalescerCore
import CoalescerDaemon
import Mesh
import Stages
import Timing
import Wire

/// A coalescer around its real core and relays: commits in and out first, then previews.
final class CoalescerShell: Shell {
    private unowned let world: World
    private var core: Coalescer
    private let committers: [Link]
    private let fanouts: [Link]
    private var committerOwners = ShardOwners()
    private var fanoutOwners = ShardOwners()
    private var grants: CreditGrants
    private var gathering = GatheringLevels()
    private var commitRelay = CommitRelay(maxWaiting: 1024)
    private var previewRelay = PreviewRelay()
    private var output: [Preview] = []

    init(_ process: Process, in world: World) {
        self.world = world
        self.core = Coalescer()
        self.committers = world.links(of: process, to: .committer)
        self.fanouts = world.links(of: process, to: .fanout)
        self.grants = CreditGrants(window: world.window())
        process.greeting = world.window().greeting
        for link in self.committers + self.fanouts where link.isListed { self.added(link) }
    }

    func turn(_ inputs: [Input], at now: Instant) -> Instant? {
        for input in inputs { self.readLink(input) }
        for input in inputs { self.readCommits(input, now) }
        self.commitRelay.flush { self.world.send($0, on: self.committers[$1]) }
        for (peer, load) in self.commitRelay.drainFinished() { self.grants.finish(load, of: peer, self.world.send) }
        self.core.gather(self.gathering.highest.window(upTo: self.core.longestWindow))
        for input in inputs { self.readPreviews(input, now) }
        self.core.timeReached(now, into: &self.output)
        self.previewRelay.send(&self.output, owners: self.fanoutOwners) { envelope, _, fanout in
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
            self.owners(of: link) { $0.remove(link.index) }
            if link.server.stage == .fanout { self.previewRelay.removed(link.index) }
        case .up(let link):
            self.changed(link, isUp: true)
            if link.server.stage == .committer { self.commitRelay.linkUp(link.index, greeting: link.greeting) }
        case .down(let link):
            self.changed(link, isUp: false)
            if link.server.stage == .committer { self.commitRelay.linkDown(link.index) }
        case .resting(let link): self.changed(link, isUp: true)
        case .message(let link, let bytes):
            self.world.walk(bytes) { (kind, fields) throws(EnvelopeError) in
                guard kind == .commitCredit else { return }
                self.commitRelay.allow(try EnvelopeReader.decode(CommitCredit.self, fields), for: link.index)
            }
            self.commitRelay.retry(link.index) { self.world.send($0, on: self.committers[$1]) }
        case .peerUp, .peerDown, .peerMessage, .database, .app: break
        }
    }

    private func added(_ link: Link) {
        self.owners(of: link) { $0.add(link.index, named: link.server.name) }
    }

    private func changed(_ link: Link, isUp: Bool) {
        self.owners(of: link) { $0.changed(link.index, link.state(isUp: isUp)) }
    }

    private func owners(of link: Link, _ body: (inout ShardOwners) -> Void) {
        if link.server.stage == .committer { body(&self.committerOwners) } else { body(&self.fanoutOwners) }
    }

    private func readCommits(_ input: Input, _ now: Instant) {
        switch input {
        case .peerUp(let peer):
            self.grants.peerUp(peer)
            self.gathering.peerUp(peer)
        case .peerDown(let peer):
            self.grants.peerDown(peer)
            self.gathering.peerDown(peer)
        case .peerMessage(let peer, let bytes):
            self.world.walk(bytes) { (kind, fields) throws(EnvelopeError) in
                switch kind {
                case .commit:
                    let commit = try EnvelopeReader.decode(Commit.self, fields)
                    self.core.commitReceived(commit, at: now)
                    self.commitRelay.pass(fields, to: self.committerOwners.owner(of: commit.room), from: peer)
                case .gatheringNotice:
                    self.gathering.noticeReceived(try EnvelopeReader.decode(GatheringNotice.self, fields), from: peer)
                default: break
                }
            }
        case .added, .removed, .up, .down, .resting, .message, .database, .app: break
        }
    }

    private func readPreviews(_ input: Input, _ now: Instant) {
        guard case .peerMessage(_, let bytes) = input else { return }
        self.world.walk(bytes) { (kind, fields) throws(EnvelopeError) in
            guard kind == .preview || kind == .attention else { return }
            let preview = try EnvelopeReader.decode(Preview.self, fields)
            self.core.previewReceived(preview, at: now, into: &self.output)
        }
    }

    func count(into counts: inout [String: Int64]) {
        counts["previews.folded", default: 0] += Int64(self.core.counters.folded)
    }
}
