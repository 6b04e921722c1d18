internal import Wire

/// The gateways that must be brought to a room's position before they get its stream.
///
///     begin ──► in reach: finished ─────────────────────────────────────────► the stream, or a reset
///           ├─► missed more than is in memory: the log is read ──► finished ─►
///           └─► ahead of the room: it is loaded again, once ──► as above
struct CatchUps: Sendable {
    /// What a gateway's catch-up needs.
    enum Step: Equatable, Sendable {
        /// Nothing now: it waits, or there is none.
        case waits
        /// The room loaded again: the gateway has seen more than the room.
        case load
        /// The room's log after this number.
        case readLog(after: UInt64)
        /// The missed updates sent, then the stream; nil: a reset, since they cannot be found.
        case finish(missed: [Update]?)
    }

    private struct CatchUp: Sendable {
        var position: Position
        /// The read of the log that it waits for.
        var logTag: UInt64?
        /// The room was loaded again for it.
        var wasLoaded = false
    }

    private var catchUps: [GatewayID: CatchUp] = [:]

    var isEmpty: Bool { self.catchUps.isEmpty }
    /// In the order of their numbers.
    var gateways: [GatewayID] { self.catchUps.keys.sorted() }

    func includes(_ gateway: GatewayID) -> Bool { self.catchUps[gateway] != nil }

    /// True when the gateway waits for that read of the log, and not for a later one.
    func awaitsLog(_ tag: UInt64, for gateway: GatewayID) -> Bool { self.catchUps[gateway]?.logTag == tag }

    /// Begins at a gateway's position in the stream; an earlier catch-up of it is over.
    mutating func begin(_ gateway: GatewayID, at position: Position) {
        self.catchUps[gateway] = CatchUp(position: position)
    }

    /// Returns false when there was nothing to cancel.
    mutating func cancel(_ gateway: GatewayID) -> Bool {
        self.catchUps.removeValue(forKey: gateway) != nil
    }

    mutating func logAsked(_ tag: UInt64, for gateway: GatewayID) {
        self.catchUps[gateway]?.logTag = tag
    }

    /// What a gateway needs next, now that the room is at the end of `stream`.
    /// - Parameter rows: what the log had, when it was read for this.
    mutating func advance(
        _ gateway: GatewayID, along stream: RoomStream, in history: DatabaseHistory, rows: [Update]?,
        limits: FanoutLimits
    ) -> Step {
        guard stream.isLive, let catchUp = self.catchUps[gateway], rows != nil || catchUp.logTag == nil
        else { return .waits }
        let seq = catchUp.position.seq
        var missed: [Update]?
        if history.includes(catchUp.position) {
            if seq > stream.seq, !catchUp.wasLoaded {
                self.catchUps[gateway]?.wasLoaded = true
                return .load
            }
            missed = stream.missed(after: seq, rows: rows ?? [], limits: limits)
            if missed == nil, rows == nil, stream.isReplayable(after: seq, limits: limits) {
                return .readLog(after: seq)
            }
        }
        self.catchUps.removeValue(forKey: gateway)
        return .finish(missed: missed)
    }
}
