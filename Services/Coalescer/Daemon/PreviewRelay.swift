package import Mesh
package import Stages
package import Wire

/// The previews that leave the coalescer: one envelope for each fan-out and turn.
package struct PreviewRelay {
    /// Why a preview did not leave.
    package enum Drop: String, CaseIterable, Hashable, Sendable {
        /// No fan-out is up.
        case unreachable
        /// Its fan-out has just gone down.
        case lost
    }

    /// The output for each fan-out; empty between two calls of `send`.
    private var envelopes: [EnvelopeWriter]
    /// The number of previews that reached no link.
    package private(set) var dropped: [Drop: Int] = [:]

    /// A relay to a number of fan-outs.
    package init(fanouts: Int) {
        self.envelopes = (0..<fanouts).map { _ in EnvelopeWriter() }
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
            self.envelopes[fanout].append(previews[index])
        }
        for fanout in self.envelopes.indices where !self.envelopes[fanout].isEmpty {
            let count = Int(self.envelopes[fanout].count)
            switch send(self.envelopes[fanout].bytes, count, fanout) {
            case .sent: break
            case .wouldBlock:
                for preview in previews.reversed() where owners.owner(of: preview.room) == fanout { returned(preview) }
            case .unroutable: self.dropped[.lost, default: 0] += count
            }
            self.envelopes[fanout].clear()
        }
        previews.removeAll(keepingCapacity: true)
    }
}
