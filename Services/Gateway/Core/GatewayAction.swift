package import Auth
package import Wire

/// Where a connection stands in the gateway's table; reused after the connection is gone.
package typealias Slot = Int

package enum FanoutRecord: Equatable, Sendable {
    case join(Join)
    case leave(Leave)
    case interest(RoomInterest)
    case areaInterest(AreaInterest)
    case memberRenamed(MemberRenamed)
    case awareness(Awareness)
    case signal(RoomSignal)
    case gestureEnd(GestureEnd)
    case read(RoomRead)
    case readHistory(HistoryRead)
}

/// A step of a room's stream: what it means for previews that an app has not got yet, and where an app that does not get
/// it joins again.
package struct StreamStep: Equatable, Sendable {
    package var room: Identifier
    /// Its number, or that of the update that comes next if it has none: an app that does not get it has what is before.
    /// Nil when the app knows no way to catch up with what it misses.
    package var seq: UInt64?
    /// The previews that must not be shown after it.
    package var ended: [EndedPreviews]

    package init(_ update: Update, isNumbered: Bool) {
        self.room = update.room
        self.seq = isNumbered ? update.seq : nil
        self.ended = update.endedPreviews
    }

    /// What the end of a gesture without a commit means.
    /// - Parameter next: the number of the update that comes next; nil for apps that cannot catch up.
    package init(_ ended: GestureEnd, before next: UInt64?) {
        self.room = ended.room
        self.seq = next
        self.ended = [ended.endedPreviews]
    }
}

/// What the gateway's shell must do, in order.
package enum GatewayAction: Equatable, Sendable {
    /// Answer an event: the acknowledgement's only argument.
    case acknowledge(Slot, id: UInt64, json: [UInt8])
    /// Answer a join with a large room. ``Gateway/snapshotRead(of:by:into:)`` is called when the app was sent the last part.
    case snapshot(Slot, Snapshot)
    /// An app does not want the rest of a snapshot any more.
    case dropSnapshot(Slot, room: Identifier)
    /// Send an event, a JSON array, to one connection.
    case emit(Slot, json: [UInt8])
    /// Send one event to several connections; `step` says what it means for previews that wait for a slow one.
    case broadcast([Slot], json: [UInt8], step: StreamStep?)
    /// Send one event to several connections, but not to those for which too much waits.
    case signal([Slot], json: [UInt8])
    /// Send the previews of one room's tick to its members, to each all but its own.
    case previews([Slot], [PreviewText])
    /// Send previews of one room's tick to members that see a part of the canvas only: to each those at its indices.
    case sightings([Sighting], [PreviewText])
    /// Send none of a room's previews that wait for these apps, should they be slow: each has lost its place there, or
    /// takes another one, and is not told of all that ended meanwhile.
    case dropPreviews([Slot], room: Identifier)
    /// Disconnect the app from the namespace; an `auth:error` went before.
    case disconnect(Slot)
    /// Close the app's connection, so that it connects again.
    case close(Slot)
    /// Close a connection immediately, because what it does not read keeps others waiting; in the slot of its app, if that
    /// has not gone.
    case shed(AnswerBudget.Debtor, Slot?)
    /// Close the app's connection, because it presented too many tokens that were refused.
    case expel(Slot)
    /// Report to operators which check of a token failed; the app's answer has less detail.
    case tokenRefused(TokenFailure)
    case preview(shard: Int, Preview)
    /// Tell the coalescer of the shard, behind the gesture's previews, that a commit ends it.
    case previewsEnd(shard: Int, GestureEnd)
    case commit(shard: Int, Commit)
    case traced(TraceMark)
    case fanout(shard: Int, FanoutRecord)
    /// Hand a record to the fan-out that served the shard before.
    case formerFanout(shard: Int, FanoutRecord)
    case http(request: UInt64, status: Int, json: [UInt8])
    /// Answer a subscriber with the beginning of its stream.
    case opening(Slot, text: [UInt8])
    /// Answer a subscriber that it gets no stream.
    case noStream(Slot, Refusal)
    /// Send subscribers the next part of their streams.
    case events([Slot], [UInt8])
}

extension GatewayAction {
    static func fanout(of room: Identifier, _ record: FanoutRecord) -> GatewayAction {
        .fanout(shard: Shard.of(room: room), record)
    }

    static func gestureEnd(_ end: GestureEnd) -> GatewayAction {
        .fanout(of: end.room, .gestureEnd(end))
    }
}
