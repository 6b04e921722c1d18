package import Wire

/// Previews, and the gestures that they belong to.
extension Fanout {
    /// Previews came from coalescers. What goes on leaves grouped by room.
    package mutating func previewsReceived(
        _ previews: [Preview], at now: UInt64, into actions: inout [FanoutAction]
    ) {
        self.batch &+= 1
        self.counters.previews += previews.count
        let isGrouped = self.findRooms(of: previews)
        if !isGrouped { self.order.sort { ($0.place, $0.index) < ($1.place, $1.index) } }
        for entry in self.order { self.take(previews[entry.index], in: entry.place, at: now, into: &actions) }
    }

    /// A gesture ended without a commit.
    package mutating func gestureEndReceived(
        _ gesture: GestureEnd, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        guard let place = self.places[gesture.room],
            let ended = self.rooms[place].end(gesture, at: now, limits: self.limits)
        else { return }
        self.tell(.gestureEnded(ended), in: place, into: &actions)
    }

    /// Writes down where each preview's room is, −1 when it is not in memory.
    /// - Returns: true when each room's previews stand together.
    private mutating func findRooms(of previews: [Preview]) -> Bool {
        self.order.removeAll(keepingCapacity: true)
        var isGrouped = true
        var place = -1
        for index in previews.indices {
            if index == 0 || previews[index].room != previews[index - 1].room {
                place = self.places[previews[index].room] ?? -1
                if place >= 0 {
                    if self.rooms[place].batch == self.batch { isGrouped = false }
                    self.rooms[place].batch = self.batch
                }
            }
            self.order.append((place, index))
        }
        return isGrouped
    }

    private mutating func take(
        _ preview: Preview, in place: Int, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        guard place >= 0, !self.rooms[place].occupancy.isEmpty else {
            self.counters.drop(.room)
            return
        }
        var preview = self.rooms[place].park.take(foldedWith: preview)
        self.pass(&preview, in: place, at: now, into: &actions)
    }

    private mutating func pass(
        _ preview: inout Preview, in place: Int, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        let verdict = self.rooms[place].judge(
            &preview, rules: self.rules, with: &self.document, at: now, limits: self.limits)
        switch verdict {
        case .pass:
            self.counters.previewsPassed += 1
            let streaming = self.rooms[place].occupancy.streaming
            if streaming.isEmpty { return }
            let lone = self.rooms[place].occupancy.loneGateway(of: preview.connection)
            if let lone, streaming.count == 1, streaming[0] == lone { return }
            actions.append(.broadcast(.preview(preview), to: streaming, except: lone))
        case .park:
            self.park(preview, in: place, at: now)
        case .drop(let reason):
            self.counters.drop(reason)
        }
    }

    private mutating func park(_ preview: Preview, in place: Int, at now: UInt64) {
        let deadline = now &+ self.limits.previewPatience
        let wasEmpty = self.rooms[place].park.isEmpty
        guard self.rooms[place].park.keep(preview, until: deadline) else {
            self.counters.drop(.waited)
            return
        }
        self.counters.previewsParked += 1
        if wasEmpty { self.parkDeadlines.set(self.rooms[place].name, at: deadline) }
    }

    /// Sends on what waited for the update that was just applied.
    mutating func releaseParked(in place: Int, at now: UInt64, into actions: inout [FanoutAction]) {
        for var preview in self.rooms[place].park.take(upTo: self.rooms[place].seq) {
            self.pass(&preview, in: place, at: now, into: &actions)
        }
    }

    /// Drops what waited too long in a room.
    mutating func parkExpired(in room: Identifier, at now: UInt64) {
        guard let place = self.places[room] else { return }
        self.counters.drop(.waited, self.rooms[place].park.expire(at: now))
        if let deadline = self.rooms[place].park.deadline { self.parkDeadlines.set(room, at: deadline) }
    }
}
