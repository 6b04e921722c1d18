package import Mesh
package import Stages
package import Wire

/// The previews that leave the coalescer: one envelope for each fan-out and turn, unless there are too many for one.
package struct PreviewRelay {
    /// Why a preview did not leave.
    package enum Drop: String, CaseIterable, Hashable, Sendable {
        /// No fan-out is up.
        case unreachable
        /// Its fan-out has just gone down.
        case lost
    }

    /// The output for one fan-out; empty between two calls of `send`.
    private struct Exit {
        var envelope = EnvelopeWriter()
        /// The index of the first preview in the envelope.
        var first = 0
        /// The link did not accept the envelope that began with the first preview; what follows is returned, too.
        var isBlocked = false
    }

    private var exits: [Exit]
    /// The number of previews that reached no link.
    package private(set) var dropped: [Drop: Int] = [:]

    /// A relay to a number of fan-outs.
    package init(fanouts: Int) {
        self.exits = (0..<fanouts).map { _ in Exit() }
    }

    /// Sends previews to the owners of their rooms.
    /// - Parameters:
    ///   - previews: empty afterwards.
    ///   - send: sends an envelope to a fan-out; the number is that of its previews.
    ///   - returned: receives the previews that a link does not accept at present, the newest first, for the next tick.
    package mutating func send(
        _ previews: inout [Preview], owners: ShardOwners, _ send: ([UInt8], _ count: Int, Int) -> SendResult,
        returned: (Preview) -> Void
    ) {
        for index in previews.indices {
            guard let fanout = owners.owner(of: previews[index].room) else {
                self.dropped[.unreachable, default: 0] += 1
                continue
            }
            guard !self.exits[fanout].isBlocked else { continue }
            if self.exits[fanout].envelope.isEmpty { self.exits[fanout].first = index }
            self.exits[fanout].envelope.append(previews[index])
            if self.exits[fanout].envelope.isFull { self.flush(fanout, send) }
        }
        for fanout in self.exits.indices {
            if !self.exits[fanout].envelope.isEmpty { self.flush(fanout, send) }
            guard self.exits[fanout].isBlocked else { continue }
            self.exits[fanout].isBlocked = false
            let rest = previews[self.exits[fanout].first...]
            for preview in rest.reversed() where owners.owner(of: preview.room) == fanout { returned(preview) }
        }
        previews.removeAll(keepingCapacity: true)
    }

    private mutating func flush(_ fanout: Int, _ send: ([UInt8], _ count: Int, Int) -> SendResult) {
        let count = Int(self.exits[fanout].envelope.count)
        switch send(self.exits[fanout].envelope.bytes, count, fanout) {
        case .sent: break
        case .wouldBlock: self.exits[fanout].isBlocked = true
        case .unroutable: self.dropped[.lost, default: 0] += count
        }
        self.exits[fanout].envelope.clear()
    }
}
