import JSONBytes
import Wire

/// Commits as apps send them.
extension Gateway {
    /// An app wants something to last.
    mutating func commit(_ incoming: Incoming, _ kind: EditKind, room: Identifier) throws(Refusal) {
        try self.connections[incoming.slot]?.checkCommit(in: room)
        let number = try Self.number(incoming.payload["n"])
        try self.connections[incoming.slot]?.checkTurn(
            in: room, isNumbered: number != nil, bound: self.limits.unacknowledged)
        try self.checkCustody(for: incoming.payload.rawBytes.count)
        let read: ReadEdit
        let gesture: UInt64?
        do throws(Refusal) {
            gesture = try Self.gesture(incoming.payload["gesture"])
            read = try kind.read(incoming.payload, reading: &self.editReading)
        } catch {
            // A fault found here for good consumes the number too, so PostgreSQL must hear of it.
            self.endOpenGestures(on: kind.gestureElements(in: incoming.payload), incoming, room: room)
            guard let number else { throw error }
            let refused = ReadEdit(refusal: error, bodyHash: FNV1a.hash(incoming.payload.rawBytes))
            self.accept(refused, number: number, gesture: nil, incoming, room: room)
            return
        }
        self.accept(read, number: number, gesture: gesture, incoming, room: room)
    }

    /// Reads `n`: a whole number from 1 to 2^53 − 1, or absent.
    private static func number(_ value: JSONValue?) throws(Refusal) -> UInt64? {
        guard let value else { return nil }
        guard let number = value.integer, number >= 1, number <= Self.maxNumber else {
            throw Refusal(.invalid, "A commit's number is a whole number from 1 on.", field: "n")
        }
        return UInt64(number)
    }

    /// Accepts a checked commit: sends it, or lets it wait for the rate limit when the app gave no number.
    private mutating func accept(
        _ read: ReadEdit, number: UInt64?, gesture: UInt64?, _ incoming: Incoming, room: Identifier
    ) {
        let slot = incoming.slot
        let mayGo = self.connections[slot]?.takesCommit(at: incoming.now) ?? false
        if number != nil, !mayGo {
            let wait = self.connections[slot]?.commitBucket.wait(at: incoming.now) ?? 1
            self.refuse(
                Refusal(.rateLimited, "This connection sends commits too fast.", retryAfterMs: wait), slot: slot,
                ackID: incoming.ackID,
                event: incoming.event.name, room: room, number: number)
            return
        }
        // What follows belongs to the next gesture, however long the commit itself has to wait.
        let ended = self.closeGestures(gesture, on: read.gestureElements, slot: slot, room: room)
        let commit = AcceptedCommit(
            room: room, ackID: incoming.ackID, event: incoming.event.name, edit: read.edit, gestures: ended)
        if mayGo {
            self.send(commit, number: number, slot: slot, at: incoming.now)
        } else {
            self.connections[slot]?.delayed.append(commit)
            self.custody.reserve(commit.edit.weight)
            self.restless.insert(slot)
        }
    }

    /// Sends the commits of a connection that waited for the rate limit, as far as it allows.
    mutating func releaseCommits(of slot: Slot, at now: UInt64) -> Bool {
        while let next = self.connections[slot]?.delayed.first {
            guard self.connections[slot]?.commitBucket.take(at: now) == true else { return true }
            self.connections[slot]?.delayed.removeFirst()
            self.custody.unreserve(next.edit.weight)
            guard self.connections[slot]?.memberships[next.room] != nil else {
                self.refuse(
                    Refusal(.forbidden, "The connection has not joined this room.", field: "roomId"), slot: slot,
                    ackID: next.ackID,
                    event: next.event, room: next.room)
                continue
            }
            self.send(next, number: nil, slot: slot, at: now)
        }
        return false
    }

    private mutating func send(_ accepted: AcceptedCommit, number: UInt64?, slot: Slot, at now: UInt64) {
        guard let commit = self.connections[slot]?.commit(accepted, number: number, gateway: self.name) else { return }
        self.keep(
            commit, from: .app(slot, connection: commit.connection, ackID: accepted.ackID, event: accepted.event),
            at: now)
    }

    /// Gives a commit into custody, which sends it.
    mutating func keep(_ commit: Commit, from origin: PendingCommit.Origin, at now: UInt64) {
        let earlier = self.custody.accept(commit, from: origin, at: now, into: &self.actions)
        if let earlier { self.release(earlier, seq: nil) }
    }

    /// Refuses what custody has no room for.
    mutating func checkCustody(for bytes: Int) throws(Refusal) {
        guard self.custody.hasRoom(for: bytes) else {
            self.tally.busy += 1
            throw Refusal(.busy, "Too many commits are waiting.", retryAfterMs: Custody.busyMs)
        }
    }

    // MARK: Gestures

    /// Closes the gestures that a commit ends, and holds newer previews of the elements back until its result.
    private mutating func closeGestures(
        _ explicit: UInt64?, on elements: ShortList<Identifier>, slot: Slot, room: Identifier
    ) -> ShortList<EndedGesture> {
        elements.map { element in
            let gesture = self.connections[slot]?.memberships[room]?.closeGesture(explicit, on: element) ?? 0
            return EndedGesture(element: element, gesture: gesture)
        }
    }

    /// Ends the gestures under way on the elements of a commit that was refused before it got a number.
    private mutating func endOpenGestures(on elements: ShortList<Identifier>, _ incoming: Incoming, room: Identifier) {
        guard let connection = self.connections[incoming.slot], let sid = connection.memberships[room]?.sid
        else { return }
        for element in elements {
            guard let gesture = self.connections[incoming.slot]?.memberships[room]?.abandonGesture(on: element)
            else { continue }
            self.endGesture(
                GestureEnd(
                    room: room, element: element, user: connection.identity.member.user, sid: sid, gesture: gesture))
        }
    }
}
