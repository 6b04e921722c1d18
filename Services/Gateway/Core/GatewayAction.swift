public import Wire

/// A place in the gateway's table of connections; reused after a connection is gone.
public typealias Slot = Int

/// Which way a commit is sent.
public enum CommitPath: Equatable, Sendable {
    /// Through the shard's coalescer: the usual way.
    case coalescer
    /// Straight to the shard's committer: the way around a coalescer that is away.
    case committer
}

/// A record for the fan-out that serves a shard.
public enum FanoutRecord: Equatable, Sendable {
    case join(Join)
    case leave(Leave)
    case interest(RoomInterest)
    case gestureEnd(GestureEnd)
    case read(RoomRead)
}

/// One preview, ready for the members of its room.
public struct PreviewText: Equatable, Sendable {
    /// Whose it is: that connection does not get it. Nil when the mover is at another gateway.
    public var sender: Slot?
    /// The event as a JSON array `["element:transforming", {…}]`.
    public var json: [UInt8]

    /// One preview.
    public init(sender: Slot?, json: [UInt8]) {
        self.sender = sender
        self.json = json
    }
}

/// What the gateway's shell must do, in order.
public enum GatewayAction: Equatable, Sendable {
    /// Answer an event: the acknowledgement's only argument.
    case acknowledge(Slot, id: UInt64, json: [UInt8])
    /// Send an event, a JSON array, to one connection.
    case emit(Slot, json: [UInt8])
    /// Send one event to several connections.
    case broadcast([Slot], json: [UInt8])
    /// Send the previews of one room's tick to its members, to each all but its own.
    case previews([Slot], [PreviewText])
    /// Disconnect the app from the namespace; it is told by an `auth:error` that went before.
    case disconnect(Slot)
    /// Hand a preview to the coalescer of the shard.
    case preview(shard: Int, Preview)
    /// Hand a commit to the coalescer or committer of the shard.
    case commit(shard: Int, path: CommitPath, Commit)
    /// Hand a record to the fan-out of the shard.
    case fanout(shard: Int, FanoutRecord)
    /// Hand a record to the fan-out that served the shard before.
    case formerFanout(shard: Int, FanoutRecord)
    /// Answer an HTTP request.
    case http(request: UInt64, status: Int, json: [UInt8])
}
