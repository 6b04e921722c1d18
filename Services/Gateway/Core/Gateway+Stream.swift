import JSONBytes
package import Wire

extension Gateway {
    /// The next update of a room's stream came from the fan-out.
    package mutating func updated(_ update: Update) {
        switch self.rooms[update.room]?.take(update.seq) {
        case nil, .old: return
        case .ahead: self.catchUp(update.room)
        case .next(let members, let legacyMembers, let hasFloors):
            self.tally.updates += 1
            if self.holdsPreviews { self.drop(update.endedPreviews, in: update.room) }
            if hasFloors {
                self.deliver(update, toThoseBehind: members, legacyMembers)
            } else {
                self.deliver(update, to: members, legacyMembers)
            }
        }
    }

    /// Members whose join's answer holds the update already do not get it; once there are none, nobody looks any more.
    private mutating func deliver(_ update: Update, toThoseBehind members: [Slot], _ legacyMembers: [Slot]) {
        let behind = self.behind(update, members)
        let legacyBehind = self.behind(update, legacyMembers)
        if behind.count == members.count, legacyBehind.count == legacyMembers.count {
            self.rooms[update.room]?.hasFloors = false
        }
        self.deliver(update, to: behind, legacyBehind)
    }

    private mutating func deliver(_ update: Update, to members: [Slot], _ legacy: [Slot]) {
        if !members.isEmpty {
            let step = StreamStep(update, isNumbered: true)
            self.actions.append(.broadcast(members, json: EventText.update(update), step: step))
        }
        guard !legacy.isEmpty else { return }
        let step = StreamStep(update, isNumbered: false)
        for json in EventText.legacyUpdates(update) {
            self.actions.append(.broadcast(legacy, json: json, step: step))
        }
    }

    /// The members whose join's answer does not hold the update already.
    private func behind(_ update: Update, _ members: [Slot]) -> [Slot] {
        members.filter { (self.connections[$0]?.memberships[update.room]?.floor ?? 0) < update.seq }
    }

    /// Previews came from the fan-out; those of one room stand together.
    /// - Parameters:
    ///   - now: ms.
    ///   - lateness: how long they waited for this turn, µs.
    package mutating func previewed(_ previews: [Preview], at now: UInt64, lateness: UInt64) {
        var start = previews.startIndex
        while start < previews.endIndex {
            let room = previews[start].room
            let end = previews[start...].firstIndex { $0.room != room } ?? previews.endIndex
            if let view = self.rooms[room], !view.previewMembers.isEmpty {
                self.show(previews[start..<end], of: room, to: view, lateness: lateness, at: now)
            }
            start = end
        }
        self.reviewPaces(at: now)
    }

    /// A user came into a room or left it.
    package mutating func presenceChanged(_ presence: Presence) {
        guard let view = self.rooms[presence.room] else { return }
        let told = view.members.filter { self.connections[$0]?.id != presence.except }
        guard !told.isEmpty else { return }
        self.actions.append(.broadcast(told, json: EventText.presence(presence), step: nil))
    }

    /// A gesture ended without a commit.
    package mutating func gestureEnded(_ ended: GestureEnded) {
        guard let view = self.rooms[ended.gesture.room] else { return }
        let step = StreamStep(ended.gesture)
        self.drop(step.ended, in: step.room)
        if !view.members.isEmpty {
            self.actions.append(.broadcast(view.members, json: EventText.gestureEnded(ended), step: step))
        }
        if !view.legacyMembers.isEmpty {
            self.actions.append(.broadcast(view.legacyMembers, json: EventText.legacyGestureEnded(ended), step: step))
        }
    }

    /// The fan-out says where a room's stream stands, after it sent what this gateway missed.
    package mutating func positioned(_ answer: RoomPosition) {
        guard let view = self.rooms[answer.room] else { return }
        self.rooms[answer.room]?.isCatchingUp = false
        if answer.isReset || answer.position.epoch != view.position.epoch {
            self.reset(answer.room, to: answer.position, except: nil)
        } else if answer.position.seq > view.position.seq {
            self.catchUp(answer.room)
        }
    }

    // MARK: Holes

    /// Asks the fan-out for what is missing in a room's stream.
    mutating func catchUp(_ room: Identifier) {
        guard let view = self.rooms[room], !view.isCatchingUp else { return }
        self.tally.holes += 1
        self.rooms[room]?.isCatchingUp = true
        self.actions.append(.fanout(shard: Shard.of(room: room), .interest(self.interest(in: room, view))))
    }

    /// Tells members that their place in a room is lost; they join again. Nothing numbered goes to them until then.
    mutating func reset(_ room: Identifier, to position: Position, except: Slot?) {
        guard let view = self.rooms[room] else { return }
        self.tally.resyncs += 1
        self.rooms[room]?.position = position
        _ = self.waiting.take(room)
        let from = view.position.seq + 1
        for slot in view.members where slot != except { self.losePlace(slot, in: room, from: from, to: position.seq) }
        self.forgetIfEmpty(room)
    }

    /// So much waits for these members that they get no update more: their place in the room is lost, from the update
    /// `seq` on, and they join again when they have read what waits.
    package mutating func fellBehind(_ slots: [Slot], in room: Identifier, at seq: UInt64) {
        guard let view = self.rooms[room] else { return }
        for slot in slots where view.members.contains(slot) {
            self.tally.fallenBehind += 1
            self.losePlace(slot, in: room, from: seq, to: view.position.seq)
        }
        self.forgetIfEmpty(room)
    }

    private mutating func losePlace(_ slot: Slot, in room: Identifier, from: UInt64, to: UInt64) {
        self.rooms[room]?.remove(slot)
        let json = EventText.event("room:resync", room: room) { writer in
            writer.key("from")
            writer.value(from)
            writer.key("to")
            writer.value(to)
        }
        self.actions.append(.emit(slot, json: json))
    }

    private func interest(in room: Identifier, _ view: RoomView) -> RoomInterest {
        let occupants = view.all.compactMap { slot in
            self.connections[slot].map { connection in
                RoomInterest.Occupant(connection: connection.id, member: connection.identity.member)
            }
        }
        return RoomInterest(room: room, position: view.position, occupants: occupants)
    }

    // MARK: Topology

    /// Another fan-out serves these shards now, or the same one came back without memory.
    /// - Parameter hadOwner: true when the former fan-out is still there and must forget the rooms.
    package mutating func fanoutMoved(shards: Set<Int>, hadOwner: Bool, at now: UInt64) {
        for (room, view) in self.rooms where shards.contains(Shard.of(room: room)) {
            let shard = Shard.of(room: room)
            self.rooms[room]?.isCatchingUp = true
            self.actions.append(.fanout(shard: shard, .interest(self.interest(in: room, view))))
        }
        if hadOwner { self.leaveFormerFanout(shards) }
        for pending in self.joins.values
        where pending.sentAt != .max && shards.contains(Shard.of(room: pending.join.room)) {
            self.repeatJoin(pending, at: now)
        }
    }

    /// The former fan-out forgets every room that somebody here is in, joins, or is about to join again after a reset: it
    /// would hold the room for them for ever, and the room would have two orders of previews.
    private mutating func leaveFormerFanout(_ shards: Set<Int>) {
        var rooms: Set<Identifier> = []
        for connection in self.connections.lazy.compactMap({ $0 }) { rooms.formUnion(connection.memberships.rooms) }
        for room in rooms where shards.contains(Shard.of(room: room)) {
            let nobody = RoomInterest(room: room, position: Position(epoch: "", seq: 0), occupants: [])
            self.actions.append(.formerFanout(shard: Shard.of(room: room), .interest(nobody)))
        }
    }
}
