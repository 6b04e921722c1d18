package import Mesh
internal import Stages
package import Wire

/// The output to the fan-outs: each shard's updates go to the fan-out that owns the shard.
///
/// An update that cannot be sent, or is longer than fan-outs accept, is dropped: the fan-out detects the hole, or the
/// shard's new head, and reads the log.
package struct FanoutLane {
    private let emptyOutbox: Outbox
    /// Those of fan-outs that are up.
    private var outboxes = InstanceTable<Outbox>()
    /// The number of updates added for a fan-out that is up.
    package private(set) var published = 0
    /// The number of updates that reached no fan-out.
    package private(set) var dropped = 0

    /// No outboxes yet; each is bounded by `outboxLimit` bytes.
    package init(outboxLimit: Int) {
        self.emptyOutbox = Outbox(limit: outboxLimit, largestEnvelope: LinkOptions.maximumIncomingBytes)
    }

    /// True when no update is queued.
    package var isEmpty: Bool { self.outboxes.all.allSatisfy(\.isEmpty) }

    /// A fan-out went down: its queue is dropped.
    package mutating func linkDown(_ fanout: Int) {
        guard var outbox = exchange(&self.outboxes[fanout], with: nil) else { return }
        outbox.drop()
        self.dropped += outbox.takeDropped()
    }

    /// Adds an update; it leaves with the next ``flush(_:)``.
    /// - Parameter fanout: the owner of its shard; nil when none is up.
    package mutating func append(_ update: Update, to fanout: Int?) {
        guard let fanout else {
            self.dropped += 1
            return
        }
        let emptyOutbox = self.emptyOutbox
        self.outboxes[fanout, default: emptyOutbox].append(update)
        self.published += 1
    }

    /// Sends the added updates, and retries those that a link did not accept before.
    package mutating func flush(_ send: ([UInt8], Int) -> SendResult) {
        for fanout in self.outboxes.numbers {
            self.outboxes[fanout]?.flush { send($0, fanout) }
            self.dropped += self.outboxes[fanout]?.takeDropped() ?? 0
        }
    }
}
