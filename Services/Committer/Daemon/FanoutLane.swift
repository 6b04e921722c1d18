package import Mesh
internal import Stages
package import Wire

/// What is on its way to the fan-outs: each shard's updates for the fan-out that owns the shard.
///
/// An update that cannot be sent is dropped: the fan-out sees the hole, or the shard's new head, and reads the log.
package struct FanoutLane {
    private var outboxes: [Outbox]
    /// How many updates were added for a fan-out that is up.
    package private(set) var published = 0
    /// How many updates reached no fan-out.
    package private(set) var dropped = 0

    /// Nothing waits for any of these fan-outs; at most `outboxLimit` bytes may wait for each.
    package init(fanouts: Int, outboxLimit: Int) {
        self.outboxes = (0..<fanouts).map { _ in Outbox(limit: outboxLimit) }
    }

    /// True when no update waits.
    package var isEmpty: Bool { self.outboxes.allSatisfy(\.isEmpty) }

    /// A fan-out went down: what waits for it is dropped.
    package mutating func linkDown(_ fanout: Int) {
        self.outboxes[fanout].drop()
        self.dropped += self.outboxes[fanout].takeDropped()
    }

    /// Adds an update; it leaves with the next ``flush(_:)``.
    /// - Parameter fanout: the owner of its shard; nil when none is up.
    package mutating func append(_ update: Update, to fanout: Int?) {
        guard let fanout else {
            self.dropped += 1
            return
        }
        self.outboxes[fanout].append(update)
        self.published += 1
    }

    /// Sends what was added, and tries again what a link did not accept before.
    package mutating func flush(_ send: ([UInt8], Int) -> SendResult) {
        for fanout in self.outboxes.indices where !self.outboxes[fanout].isEmpty {
            self.outboxes[fanout].flush { send($0, fanout) }
            self.dropped += self.outboxes[fanout].takeDropped()
        }
    }
}
