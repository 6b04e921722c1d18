import JSONBytes
import Wire

/// Commits as apps send them.
extension Gateway {
    /// An app wants something to last.
    mutating func commit(_ incoming: Incoming, room: Identifier) throws(Refusal) {
        try self.connections[incoming.slot]?.checkCommit(in: room)
        let number = try Self.number(incoming.payload["n"])
        try self.connections[incoming.slot]?.checkTurn(
            in: room, isNumbered: number != nil, bound: self.limits.unacknowledged)
        try self.checkCustody(for: incoming.payload.rawBytes.count)
        let command: Command
        let gesture: UInt64?
        do throws(Refusal) {
            gesture = try Self.gesture(incoming.payload["gesture"])
            command = try self.command(incoming)
        } catch {
            // A fault found here for good consumes the number too, so PostgreSQL must hear of it.
            self.endOpenGesture(of: incoming, room: room)
            guard let number else { throw error }
            let hash = FNV1a.hash(incoming.payload.rawBytes)
            self.accept(
                .refuse(error, bodyHash: hash), number: number, gesture: nil, incoming: incoming, room: room)
            return
        }
        self.accept(command, number: number, gesture: gesture, incoming: incoming, room: room)
    }

    /// Reads `n`: a whole number from 1 to 2^53 − 1, or absent.
    private static func number(_ value: JSONValue?) throws(Refusal) -> UInt64? {
        guard let value else { return nil }
        guard let number = value.integer, number >= 1, number <= Self.maxNumber else {
            throw Refusal(.invalid, "n must be a whole number from 1 on", field: "n")
        }
        return UInt64(number)
    }

    /// Takes a checked commit: sends it, or lets it wait for the rate limit when the app gave no number.
    private mutating func accept(
        _ command: Command, number: UInt64?, gesture: UInt64?, incoming: Incoming, room: Identifier
    ) {
        let slot = incoming.slot
        let event = incoming.event.rawValue
        let mayGo = self.connections[slot]?.takesCommit(at: incoming.now) ?? false
        if number != nil, !mayGo {
            let wait = self.connections[slot]?.commitBucket.wait(at: incoming.now) ?? 1
            self.refuse(
                Refusal(.rateLimited, "too many commits", retryAfterMs: wait), slot: slot, ackID: incoming.ackID,
                event: event, room: room, number: number)
            return
        }
        // What follows belongs to the next gesture, however long the commit itself has to wait.
        let closed = self.closeGesture(gesture, by: command, slot: slot, room: room)
        if mayGo {
            self.send(
                command, number: number, closed: closed, ackID: incoming.ackID, event: event, slot: slot, room: room,
                at: incoming.now)
        } else {
            self.connections[slot]?.delayed.append(
                DelayedCommit(room: room, ackID: incoming.ackID, event: event, command: command, closed: closed))
            self.delayedCount += 1
            self.custodyBytes += command.weight
            self.restless.insert(slot)
        }
    }

    /// Sends the commits of a connection that waited for the rate limit, as far as it allows.
    mutating func releaseCommits(of slot: Slot, at now: UInt64) -> Bool {
        while let next = self.connections[slot]?.delayed.first {
            guard self.connections[slot]?.commitBucket.take(at: now) == true else { return true }
            self.connections[slot]?.delayed.removeFirst()
            self.delayedCount -= 1
            self.custodyBytes -= next.command.weight
            guard self.connections[slot]?.memberships[next.room] != nil else {
                self.refuse(
                    Refusal(.forbidden, "not in this room", field: "roomId"), slot: slot, ackID: next.ackID,
                    event: next.event, room: next.room)
                continue
            }
            self.send(
                next.command, number: nil, closed: next.closed, ackID: next.ackID, event: next.event, slot: slot,
                room: next.room, at: now)
        }
        return false
    }

    private mutating func send(
        _ command: Command, number: UInt64?, closed: UInt64, ackID: UInt64?, event: String, slot: Slot,
        room: Identifier, at now: UInt64
    ) {
        guard
            let commit = self.connections[slot]?.commit(
                command, number: number, gesture: closed, in: room, gateway: self.name)
        else { return }
        self.take(
            commit, origin: .app(slot, connection: commit.connection, ackID: ackID, event: event), at: now)
    }

    // MARK: Gestures

    /// Closes the gesture that a commit ends, and holds newer previews of the element back until its result.
    private mutating func closeGesture(
        _ explicit: UInt64?, by command: Command, slot: Slot, room: Identifier
    ) -> UInt64 {
        guard case .transform(let element, _) = command else { return 0 }
        return self.connections[slot]?.memberships[room]?.closeGesture(explicit, on: element) ?? 0
    }

    /// Ends the gesture under way on the element of a commit that was refused before it got a number.
    private mutating func endOpenGesture(of incoming: Incoming, room: Identifier) {
        guard incoming.event == .transform, let id = incoming.payload["elementId"]?.string,
            let connection = self.connections[incoming.slot], let membership = connection.memberships[room],
            let gesture = membership.elements[Identifier(id)]?.openGesture
        else { return }
        self.connections[incoming.slot]?.memberships[room]?.elements[Identifier(id)]?.openGesture = nil
        self.connections[incoming.slot]?.memberships[room]?.elements[Identifier(id)]?.held = nil
        self.endGesture(
            GestureEnd(
                room: room, element: Identifier(id), user: connection.identity.member.user, sid: membership.sid,
                gesture: gesture))
    }
}
