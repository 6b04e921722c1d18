package import Timing
package import Wire

/// Rooms' streams and previews, as they come from fan-outs and go to members, and members' previews on their way.
extension Gateway {
    /// The next update of a room's stream came from the fan-out.
    package mutating func updateReceived(_ update: Update, into actions: inout [GatewayAction]) {
        let outcome = self.streams.updateReceived(update, into: &actions)
        if case .delivered = outcome, !self.pacer.isEmpty { self.pacer.drop(update.endedPreviews, in: update.room) }
        self.follow(outcome, in: update.room, into: &actions)
    }

    /// The fan-out says where a room's stream stands, after it sent what this gateway missed.
    package mutating func positionReceived(_ answer: RoomPosition, into actions: inout [GatewayAction]) {
        let outcome = self.streams.positionReceived(answer, into: &actions)
        self.follow(outcome, in: answer.room, into: &actions)
    }

    /// A user came into a room or left it.
    package mutating func presenceChanged(_ presence: Presence, into actions: inout [GatewayAction]) {
        let joiner = self.connections.slot(of: presence.except)
        self.streams.presenceChanged(presence, except: joiner, into: &actions)
    }

    /// A gesture ended without a commit.
    package mutating func gestureEnded(_ ended: GestureEnded, into actions: inout [GatewayAction]) {
        self.pacer.drop([ended.gesture.endedPreviews], in: ended.gesture.room)
        self.streams.gestureEnded(ended, into: &actions)
    }

    /// So much waits for these members that they get no update more: their place in the room is lost, from the update
    /// `seq` on, and they join again when they have read what waits.
    package mutating func fellBehind(
        _ slots: [Slot], in room: Identifier, at seq: UInt64, into actions: inout [GatewayAction]
    ) {
        self.streams.fellBehind(slots, in: room, at: seq, into: &actions)
        self.forgetIfEmpty(room, into: &actions)
    }

    /// Does what follows from a change of a room's stream.
    mutating func follow(
        _ outcome: RoomStreams.Outcome, in room: Identifier, into actions: inout [GatewayAction]
    ) {
        switch outcome {
        case .unchanged, .delivered: break
        case .missing: self.ask(for: room, into: &actions)
        case .reset:
            _ = self.pacer.removeWaiting(of: room)
            self.forgetIfEmpty(room, into: &actions)
        }
    }

    /// Asks the fan-out for what is missing in a room's stream.
    private func ask(for room: Identifier, into actions: inout [GatewayAction]) {
        guard let position = self.streams.position(of: room) else { return }
        let occupants = self.connections.occupants(self.streams.members(of: room))
        let interest = RoomInterest(room: room, position: position, occupants: occupants)
        actions.append(.fanout(of: room, .interest(interest)))
    }

    /// A room without members is forgotten, and what waits of it.
    mutating func forgetIfEmpty(_ room: Identifier, into actions: inout [GatewayAction]) {
        guard self.streams.forgetIfEmpty(room) else { return }
        for preview in self.pacer.forget(room) { self.forward(preview, into: &actions) }
    }

    /// Another fan-out serves these shards now, or the same one came back without memory.
    /// - Parameter hadOwner: true when the former fan-out is still there and must forget the rooms.
    package mutating func fanoutMoved(
        shards: Set<Int>, hadOwner: Bool, at now: Instant, into actions: inout [GatewayAction]
    ) {
        for room in self.streams.rooms(in: shards) {
            self.streams.fanoutMoved(room)
            self.ask(for: room, into: &actions)
        }
        if hadOwner {
            // It would hold them for ever for members here, and the room would have two orders of previews.
            for room in self.connections.rooms() where shards.contains(Shard.of(room: room)) {
                let nobody = RoomInterest(room: room, position: Position(epoch: "", seq: 0), occupants: [])
                actions.append(.formerFanout(shard: Shard.of(room: room), .interest(nobody)))
            }
        }
        for join in self.joins.sent(in: shards) { self.send(join, at: now, into: &actions) }
    }

    // MARK: Previews of members

    /// An app shows what it moves.
    mutating func preview(
        _ event: IncomingEvent, room: Identifier, into actions: inout [GatewayAction]
    ) throws(Refusal) {
        self.tally.previewsIn += 1
        try self.connections[event.slot]?.checkPreview(in: room)
        let move = try EventReader.move(event.payload)
        switch self.connections[event.slot]?.stamp(move, in: room, at: event.now) {
        case .goes(let preview): self.send(preview, at: event.now, into: &actions)
        case .waits:
            self.tally.previewsHeld += 1
            self.connections.startsWaiting(event.slot)
        case .dropped: self.tally.previewsDropped += 1
        case .ignored, nil: break
        }
    }

    /// Sends a member's preview on when its room's pace allows it.
    mutating func send(_ preview: Preview, at now: Instant, into actions: inout [GatewayAction]) {
        if !self.pacer.sendsImmediately {
            let members = self.streams.previewMembers(of: preview.room).count
            if self.pacer.keepsBack(preview, members: members, at: now) { return }
        }
        self.forward(preview, into: &actions)
    }

    /// Sends a member's preview on, whatever the pace.
    mutating func forward(_ preview: Preview, into actions: inout [GatewayAction]) {
        self.tally.previewsSent += 1
        actions.append(.preview(shard: Shard.of(room: preview.room), preview))
    }

    // MARK: Previews for members

    /// A turn of the event loop begins, in which previews may be delivered to so many members.
    package mutating func turnBegan() { self.pacer.turnBegan() }

    /// When ``previewTimeReached(_:into:)`` is due; nil when no preview waits and no room is slowed down.
    package mutating func nextPreviewDeadline() -> Instant? { self.pacer.nextDeadline() }

    /// Previews came from the fan-out; those of one room stand together.
    /// - Parameter lateness: how long they waited for this turn.
    package mutating func previewsReceived(
        _ previews: [Preview], at now: Instant, lateness: Nanoseconds, into actions: inout [GatewayAction]
    ) {
        var start = previews.startIndex
        while start < previews.endIndex {
            let room = previews[start].room
            let end = previews[start...].firstIndex { $0.room != room } ?? previews.endIndex
            let members = self.streams.previewMembers(of: room).count
            if members > 0, !self.pacer.keepsBack(previews[start..<end], of: room, members: members, at: now) {
                self.deliver(previews[start..<end], of: room, lateness: lateness, at: now, into: &actions)
            }
            start = end
        }
        self.reviewPaces(at: now, into: &actions)
    }

    /// Time has passed: previews that are due go as far as this turn allows, and paces are reviewed.
    package mutating func previewTimeReached(_ now: Instant, into actions: inout [GatewayAction]) {
        while let due = self.pacer.nextDue(at: now) {
            self.deliver(due.previews[...], of: due.room, lateness: due.lateness, at: now, into: &actions)
        }
        while let unsent = self.pacer.nextUnsent(at: now) {
            for preview in unsent { self.forward(preview, into: &actions) }
        }
        self.reviewPaces(at: now, into: &actions)
    }

    /// Delivers previews of one room, whatever its pace.
    mutating func deliver(
        _ previews: ArraySlice<Preview>, of room: Identifier, lateness: Nanoseconds, at now: Instant,
        into actions: inout [GatewayAction]
    ) {
        let members = self.streams.previewMembers(of: room)
        guard !previews.isEmpty, !members.isEmpty else { return }
        let texts = previews.map { PreviewText(sender: self.connections.slot(of: $0.connection), preview: $0) }
        actions.append(.previews(members, texts))
        self.pacer.delivered(texts.count, of: room, to: members.count, lateness: lateness, at: now)
    }

    private mutating func reviewPaces(at now: Instant, into actions: inout [GatewayAction]) {
        for room in self.pacer.review(at: now) {
            self.streams.paceChanged(of: room, to: self.pacer.requestedInterval(in: room), into: &actions)
        }
    }
}
