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

        /// - Returns: true when the envelope is full.
        mutating func add(_ preview: Preview, at index: Int) -> Bool {
            guard !self.isBlocked else { return false }
            if self.envelope.isEmpty { self.first = index }
            self.envelope.append(preview)
            return self.envelope.isFull
        }

        /// - Returns: the number of previews that reached no link.
        mutating func flush(_ send: ([UInt8], _ count: Int) -> SendResult) -> Int {
            guard !self.envelope.isEmpty else { return 0 }
            defer { self.envelope.clear() }
            let count = Int(self.envelope.count)
            let result = send(self.envelope.bytes, count)
            self.isBlocked = result == .wouldBlock
            return result == .unroutable ? count : 0
        }

        /// - Returns: the index of the first preview that the link did not accept; nil when it accepted all.
        mutating func unblock() -> Int? { exchange(&self.isBlocked, with: false) ? self.first : nil }
    }

    private var exits = InstanceTable<Exit>()
    /// The number of previews that reached no link.
    package private(set) var dropped: [Drop: Int] = [:]

    /// A relay without output.
    package init() {}

    /// A fan-out is not in the set any more.
    package mutating func removed(_ fanout: Int) { self.exits[fanout] = nil }

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
            let isFull = self.exits[fanout, default: Exit()].add(previews[index], at: index)
            if isFull { self.flush(fanout, send) }
        }
        for fanout in self.exits.numbers {
            self.flush(fanout, send)
            guard let rest = self.exits[fanout]?.unblock() else { continue }
            for preview in previews[rest...].reversed() where owners.owner(of: preview.room) == fanout {
                returned(preview)
            }
        }
        previews.removeAll(keepingCapacity: true)
    }

    private mutating func flush(_ fanout: Int, _ send: ([UInt8], _ count: Int, Int) -> SendResult) {
        let lost = self.exits[fanout]?.flush { send($0, $1, fanout) } ?? 0
        if lost > 0 { self.dropped[.lost, default: 0] += lost }
    }
}
