import CoalescerCore
import Mesh
import Wire

/// A coalescer around its real core: commits in and out first, then previews.
final class CoalescerShell: Shell {
    private unowned let world: World
    private var core = Coalescer()
    private let committers: [String: Link]
    private let fanouts: [String: Link]
    private var committerOwners = ShardOwners()
    private var fanoutOwners = ShardOwners()
    private var outgoing = Outgoing()
    private var output: [Preview] = []

    init(_ process: Process, in world: World) {
        self.world = world
        self.committers = world.links(of: process, to: .committer)
        self.fanouts = world.links(of: process, to: .fanout)
    }

    func turn(_ inputs: [Input], now: UInt64) -> UInt64? {
        for input in inputs { self.readLink(input) }
        for input in inputs { self.readCommits(input, now) }
        self.outgoing.flush(in: self.world)
        for input in inputs { self.readPreviews(input, now) }
        self.core.advance(to: now, into: &self.output)
        self.sendPreviews(now)
        self.core.forget(at: now)
        return self.core.deadline
    }

    private func readLink(_ input: Input) {
        let (link, isUp): (Link, Bool)
        switch input {
        case .up(let up), .resting(let up): (link, isUp) = (up, true)
        case .down(let down): (link, isUp) = (down, false)
        default: return
        }
        if link.server.stage == .committer {
            self.committerOwners.changed(link.server.name, link.state(isUp: isUp))
        } else {
            self.fanoutOwners.changed(link.server.name, link.state(isUp: isUp))
        }
    }

    private func readCommits(_ input: Input, _ now: UInt64) {
        guard case .peerMessage(_, let bytes) = input else { return }
        self.world.read(bytes) { (kind, fields) throws(EnvelopeError) in
            guard kind == .commit else { return }
            let commit = try EnvelopeReader.decode(Commit.self, fields)
            _ = self.core.commitReceived(commit, at: now)
            guard let owner = self.committerOwners.owner(of: Shard.of(room: commit.room)),
                let link = self.committers[owner]
            else { return }
            self.outgoing.append(.commit, fields: fields, on: link)
        }
    }

    private func readPreviews(_ input: Input, _ now: UInt64) {
        guard case .peerMessage(_, let bytes) = input else { return }
        self.world.read(bytes) { (kind, fields) throws(EnvelopeError) in
            guard kind == .preview else { return }
            let preview = try EnvelopeReader.decode(Preview.self, fields)
            _ = self.core.previewReceived(preview, at: now, into: &self.output)
        }
    }

    private func sendPreviews(_ now: UInt64) {
        for preview in self.output {
            guard let owner = self.fanoutOwners.owner(of: Shard.of(room: preview.room)), let link = self.fanouts[owner]
            else { continue }
            self.outgoing.append(preview, on: link)
        }
        self.output.removeAll(keepingCapacity: true)
        self.outgoing.flush(in: self.world)
    }

    func count(into counts: inout [String: Int64]) {
        counts["previews.folded", default: 0] += Int64(self.core.counters.folded)
    }
}
