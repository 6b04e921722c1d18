package import GatewayCore
package import Mesh
package import Stages
package import Timing
package import Wire

/// Where records go: the core names a shard, and the record leaves for the instance that owns it.
///
/// A record of a shard that no instance owns is dropped: when one comes up, the core repeats what must arrive. Previews for a
/// coalescer leave at once after a pause and at most once in a pause while the gateway is busy: a message that wakes both
/// ends costs far more than what is in it.
package struct MeshRoutes {
    /// What became of a commit.
    package enum CommitOutcome: Equatable, Sendable {
        /// It leaves with the next flush.
        case sent
        /// The committer has given no credit for it.
        case noCredit
        /// No committer of the shard is up.
        case noInstance
    }

    package private(set) var coalescers, committers, fanouts: StageRoutes
    private let longestPause: Nanoseconds

    /// Routes to no instances yet.
    /// - Parameter pause: between two envelopes for one coalescer, when the gateway is busy.
    package init(
        pause: Nanoseconds = .milliseconds(5), previews: OutboxLimits = .previews, requests: OutboxLimits = .requests
    ) {
        self.longestPause = pause
        self.coalescers = StageRoutes(previews)
        self.committers = StageRoutes(requests)
        self.fanouts = StageRoutes(requests)
    }

    /// The owners of each stage's shards.
    package var owners: [(Stage, ShardOwners)] {
        [(.coalescer, self.coalescers.owners), (.committer, self.committers.owners), (.fanout, self.fanouts.owners)]
    }

    /// How many envelopes were dropped because a peer was too slow for them.
    package var droppedEnvelopes: Int {
        [self.coalescers, self.committers, self.fanouts].reduce(0) { $0 + $1.outboxes.droppedEnvelopes }
    }

    // MARK: Links

    /// Follows what happens on the links to a stage.
    /// - Returns: the shards that moved.
    @discardableResult
    package mutating func follow(_ event: StageLinks.Event, of stage: Stage) -> ShardOwners.Change {
        switch stage {
        case .committer: return self.committers.follow(event)
        case .fanout:
            let change = self.fanouts.follow(event)
            if case .writable(let fanout) = event, change.isLossy {
                self.fanouts.outboxes.append(InterestReset(), to: fanout)
            }
            return change
        // There are no links to gateways.
        case .coalescer, .gateway: return self.coalescers.follow(event)
        }
    }

    /// A committer allows more commits.
    package mutating func allow(_ credit: CommitCredit, of committer: Int) {
        self.committers.outboxes[committer]?.allow(credit)
    }

    /// The pause between two envelopes of previews for one coalescer.
    /// - Parameter share: of the longest one.
    package mutating func pause(_ share: Double) { self.coalescers.outboxes.pause = self.longestPause.part(share) }

    // MARK: Records

    /// Sends a preview to the coalescer of its shard.
    package mutating func preview(_ preview: Preview, of shard: Int) {
        self.coalescers.append(latest: preview, ofShard: shard)
    }

    /// Tells the coalescer of a shard, behind a gesture's previews, that a commit ends it.
    package mutating func previewsEnd(_ end: GestureEnd, of shard: Int) {
        self.coalescers.removePreviews(endedBy: end, ofShard: shard)
        self.coalescers.append(end, ofShard: shard)
    }

    /// Sends a record to the fan-out of its shard.
    package mutating func record(_ record: FanoutRecord, of shard: Int) {
        self.record(record, to: self.fanouts.owners.owner(of: shard))
    }

    /// Sends a record to the fan-out that owned its shard before the present one, if that is still up.
    package mutating func formerRecord(_ record: FanoutRecord, of shard: Int) {
        self.record(record, to: self.fanouts.owners.formerOwner(of: shard))
    }

    private mutating func record(_ record: FanoutRecord, to fanout: Int?) {
        switch record {
        case .join(let join): self.fanouts.outboxes.append(join, to: fanout)
        case .leave(let leave): self.fanouts.outboxes.append(leave, to: fanout)
        case .interest(let interest): self.fanouts.outboxes.append(interest, to: fanout)
        case .awareness(let awareness): self.fanouts.outboxes.append(awareness, to: fanout)
        case .signal(let signal): self.fanouts.outboxes.append(signal, to: fanout)
        case .areaInterest(let interest): self.fanouts.outboxes.append(interest, to: fanout)
        case .memberRenamed(let renamed): self.fanouts.outboxes.append(renamed, to: fanout)
        case .gestureEnd(let end): self.fanouts.outboxes.append(end, to: fanout)
        case .read(let read): self.fanouts.outboxes.append(read, to: fanout)
        case .readHistory(let read): self.fanouts.outboxes.append(read, to: fanout)
        }
    }

    /// Sends a commit to the committer of its shard.
    package mutating func commit(_ commit: Commit, of shard: Int) -> CommitOutcome {
        guard let committer = self.committers.owners.owner(of: shard),
            let isSent = self.committers.outboxes[committer]?.appendCredited(commit)
        else { return .noInstance }
        return isSent ? .sent : .noCredit
    }

    /// False while the committer of a shard gives no credit. While none is up, commits need not wait for credit.
    package func acceptsCommit(of shard: Int) -> Bool {
        self.committers.owners.owner(of: shard).flatMap { self.committers.outboxes[$0]?.isCreditOpen } ?? true
    }

    // MARK: Leaving

    /// When something is due that waits for its pause.
    package var nextDeadline: Instant? { self.coalescers.outboxes.nextDeadline }

    /// Sends what may leave by now.
    package mutating func flush(at now: Instant, _ send: (EnvelopeWriter, StageInstance) -> SendResult) {
        self.committers.outboxes.flush(at: now) { send($0, StageInstance(.committer, $1)) }
        self.fanouts.outboxes.flush(at: now) { send($0, StageInstance(.fanout, $1)) }
        self.coalescers.outboxes.flush(at: now) { send($0, StageInstance(.coalescer, $1)) }
    }
}

extension Gateway {
    /// Shards moved from one instance of a stage to another. Committers need not agree on owners, so what the former one
    /// decides meanwhile may be for nothing.
    package mutating func shardsMoved(
        _ change: ShardOwners.Change, of stage: Stage, at now: Instant, into actions: inout [GatewayAction]
    ) {
        switch stage {
        case .gateway, .coalescer: break
        case .committer:
            if !change.shards.isEmpty {
                self.commits.inFlight.linksChanged(shards: change.shards, at: now, into: &actions)
            }
        case .fanout:
            for (shards, hadOwner) in [(change.handedOver, true), (change.orphaned, false)] where !shards.isEmpty {
                self.fanoutMoved(shards: shards, hadOwner: hadOwner, at: now, into: &actions)
            }
        }
    }
}
