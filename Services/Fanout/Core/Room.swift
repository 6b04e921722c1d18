internal import Wire

/// One room in memory.
///
///     first join, interest or read ──► loading ──snapshot──► live ──last member left, a while later──► dropped
///
/// A live room applies the updates after its `seq` one by one; one that comes too early is kept until the hole before
/// it is filled. While the room is loaded (or loaded anew) every update is kept, so nothing falls between snapshot and
/// stream.
struct Room: Sendable {
    /// The newest connection of a session.
    struct Owner: Sendable {
        var claim: UInt32
        var connection: UInt64
    }

    /// A gateway that must be brought to the room's position before it gets the stream.
    struct CatchUp: Sendable {
        var position: Position
        /// The read of the log that it waits for.
        var tag: UInt64?
        /// The room was loaded anew for it, because the gateway knows more than the room did.
        var wasReloaded = false
    }

    /// A read of the room that waits for it to be loaded, or for an update.
    struct Read: Sendable {
        var gateway: GatewayID
        var request: UInt64
        var deadline: UInt64
        /// The update that its gateway has acknowledged already; 0: none.
        var after: UInt64
        /// Until when it waits for that one, ns.
        var followsUntil: UInt64
    }

    let name: Identifier
    let shard: Int
    var isLive = false
    /// The load that is under way.
    var loadTag: UInt64?
    /// Where the room stood when that load was asked for; a snapshot that is older shows that history was lost.
    var seqAtLoad: UInt64 = 0
    /// The next snapshot is of another history, whatever its number.
    var isNewHistory = false
    /// The last update that was applied.
    var seq: UInt64 = 0
    var elements = ElementStore()
    var ring = UpdateRing()
    /// Updates that cannot be applied yet, by seq.
    var kept: [UInt64: Update] = [:]
    var occupancy = Occupancy()
    var park: PreviewPark
    /// Sessions that were taken over by a newer connection, and whose they are now.
    var owners: [Identifier: Owner] = [:]
    /// The session that a connection took over.
    var sids: [UInt64: Identifier] = [:]
    /// Joins that wait, in the order in which they came, by tag.
    var joins: [UInt64] = []
    var reads: [Read] = []
    var catchUps: [GatewayID: CatchUp] = [:]
    /// When it may be dropped, if nobody came until then.
    var dropAt: UInt64?
    /// When it was taken over from another fan-out: for a while after that gateways still name people whom everybody
    /// knows, and gestures may be open that were never seen here.
    var takenOverAt: UInt64?
    /// An update was thrown away because too many were kept: one load is not enough.
    var hasDropped = false
    /// How often its shard's cursor had been born when the load was asked for.
    var birthsAtLoad = 0
    /// Which batch of previews it was last seen in.
    var batch: UInt64 = 0
    /// What it was last counted for in the memory of all rooms.
    var countedBytes = 0

    init(name: Identifier, limits: FanoutLimits) {
        self.name = name
        self.shard = Shard.of(room: name)
        self.park = PreviewPark(capacity: limits.parkedPreviews)
    }

    /// True when nobody needs it.
    var isIdle: Bool {
        self.occupancy.isEmpty && self.joins.isEmpty && self.reads.isEmpty
    }

    /// True when it was taken over less than `span` ago.
    func isTakenOver(within span: UInt64, at now: UInt64) -> Bool {
        guard let takenOverAt = self.takenOverAt else { return false }
        return now < takenOverAt &+ span
    }

    /// The gateways that hear what is outside of the numbered stream: also those that still catch up.
    var audience: [GatewayID] {
        if self.catchUps.isEmpty { return self.occupancy.streaming }
        return self.occupancy.gateways.map(\.id).filter {
            self.occupancy.isStreaming($0) || self.catchUps[$0] != nil
        }
    }

    /// What it takes in memory, roughly.
    var footprint: Int {
        512 + self.elements.footprint + self.ring.bytes + self.occupancy.connectionCount * 256
    }
}
