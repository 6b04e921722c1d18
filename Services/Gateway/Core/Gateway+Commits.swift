import Auth
import Canvas
import JSONBytes
package import Wire

extension Gateway {
    // MARK: From apps

    mutating func commit(_ incoming: Incoming, room: Identifier) throws(Refusal) {
        let slot = incoming.slot
        guard let connection = self.connections[slot], let membership = connection.memberships[room] else {
            throw Refusal(.forbidden, "not in this room", field: "roomId")
        }
        guard connection.identity.may(.commit, in: room) else {
            throw Refusal(.forbidden, "no right to change this room", field: "roomId")
        }
        let number = try Self.number(incoming.payload["n"])
        if number != nil, !membership.ownsSession {
            throw Refusal(.sessionExpired, "the session has another owner; join again")
        }
        guard membership.unacknowledged + connection.delayed.count < self.limits.unacknowledged else {
            throw Refusal(.busy, "too many commits without a result", retryAfterMs: 200)
        }
        guard !connection.isLeaving else {
            throw Refusal(.unavailable, "this gateway is about to stop; connect again", retryAfterMs: 100)
        }
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

    private mutating func command(_ incoming: Incoming) throws(Refusal) -> Command {
        let payload = incoming.payload
        switch incoming.event {
        case .transform:
            let element = try ElementField.id(payload["elementId"], field: "elementId")
            return .transform(element: element, fields: try ElementField.transform(payload, isPreview: false))
        case .create:
            guard let element = payload["element"] else {
                throw Refusal(.invalid, "element must be an object", field: "element")
            }
            return .create(elements: [try self.createItem(element, path: "element")], single: true)
        case .createMany:
            return .create(elements: try self.createItems(payload["elements"]), single: false)
        case .update:
            let element = try ElementField.id(payload["elementId"], field: "elementId")
            guard let set = payload["set"], set.kind == .object else {
                throw Refusal(.invalid, "set must be an object", field: "set")
            }
            try ElementField.check(changes: set)
            return .update(element: element, set: Array(set.rawBytes))
        case .delete:
            return .delete(element: try ElementField.id(payload["elementId"], field: "elementId"))
        case .roomJoin, .roomLeave, .transforming, .authRefresh:
            throw Refusal(.unknownEvent, "no such event")
        }
    }

    private mutating func createItems(_ value: JSONValue?) throws(Refusal) -> [CreateItem] {
        guard let value, value.kind == .array, value.count > 0 else {
            throw Refusal(.invalid, "elements must be an array of at least one element", field: "elements")
        }
        guard value.count <= self.limits.group else {
            throw Refusal(.tooLarge, "at most \(self.limits.group) elements at once", field: "elements")
        }
        var items: [CreateItem] = []
        var ids: Set<Identifier> = []
        for (index, element) in value.elements.enumerated() {
            let item = try self.createItem(element, path: "elements[\(index)]")
            guard ids.insert(item.id).inserted else {
                throw Refusal(.invalid, "the id is given twice", field: "elements[\(index)].id")
            }
            items.append(item)
        }
        return items
    }

    mutating func createItem(_ element: JSONValue, path: String) throws(Refusal) -> CreateItem {
        let id = try ElementField.check(newElement: element, path: path)
        return CreateItem(
            id: Identifier(id ?? self.names.next()), idIsGenerated: id == nil, json: Array(element.rawBytes))
    }

    /// Takes a checked commit: sends it, or lets it wait for the rate limit when the app gave no number.
    private mutating func accept(
        _ command: Command, number: UInt64?, gesture: UInt64?, incoming: Incoming, room: Identifier
    ) {
        let slot = incoming.slot
        let event = incoming.event.rawValue
        let mayGo = self.connections[slot]?.delayed.isEmpty == true && self.takeCommitToken(slot, at: incoming.now)
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

    private mutating func takeCommitToken(_ slot: Slot, at now: UInt64) -> Bool {
        self.connections[slot]?.commitBucket.take(at: now) ?? false
    }

    /// Sends the commits of a connection that waited for the rate limit, as far as it allows.
    mutating func releaseCommits(of slot: Slot, at now: UInt64) -> Bool {
        while let next = self.connections[slot]?.delayed.first {
            guard self.takeCommitToken(slot, at: now) else { return true }
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

    // MARK: Custody

    private mutating func send(
        _ command: Command, number: UInt64?, closed: UInt64, ackID: UInt64?, event: String, slot: Slot,
        room: Identifier, at now: UInt64
    ) {
        guard let connection = self.connections[slot], let membership = connection.memberships[room] else { return }
        let session: Identifier
        let assigned: UInt64
        if let number {
            session = SessionKey.app(sid: membership.sid)
            assigned = number
        } else {
            session = SessionKey.gateway(sid: membership.sid, claim: membership.claim)
            assigned = membership.lastNumber + 1
            self.connections[slot]?.memberships[room]?.lastNumber = assigned
        }
        let commit = Commit(
            room: room, session: session, claim: membership.claim, number: assigned, isNumberedByApp: number != nil,
            user: connection.identity.member.user, connection: connection.id, gateway: self.name, gesture: closed,
            command: command)
        self.connections[slot]?.memberships[room]?.unacknowledged += 1
        self.take(commit, origin: .app(slot, connection: connection.id, ackID: ackID, event: event), at: now)
    }

    /// Takes a commit into custody and sends it for the first time.
    mutating func take(_ commit: Commit, origin: PendingCommit.Origin, at now: UInt64) {
        let key = CommitKey(room: commit.room, session: commit.session, number: commit.number)
        let pending = PendingCommit(
            commit: commit, origin: origin, takenAt: now, deadline: now + self.limits.deadlineMs, sendAgainAt: now,
            weight: commit.command.weight)
        if let earlier = self.commits.updateValue(pending, forKey: key) {
            // The app sent the number again before its result: the newer event gets the answer.
            self.custodyBytes -= earlier.weight
            self.release(earlier, seq: nil)
            if earlier.commit.claim < commit.claim {
                self.commits[key]?.olderCopies = earlier.olderCopies + earlier.attempts
            }
        }
        self.custodyBytes += pending.weight
        self.counters.commits += 1
        self.dispatch(key, at: now)
    }

    /// Sends a commit in custody: the first time through the coalescer, then by turns around it.
    mutating func sendOut(_ key: CommitKey, at now: UInt64) {
        guard var pending = self.commits[key] else { return }
        let path = pending.nextPath
        if pending.attempts > 0 { self.counters.resent += 1 }
        pending.attempts += 1
        pending.sendAgainAt = now + PendingCommit.pause(afterAttempts: pending.attempts)
        self.commits[key] = pending
        self.actions.append(.commit(shard: Shard.of(room: key.room), path: path, pending.commit))
    }

    /// Closes the gesture that a commit ends, and holds newer previews of the element back until its result.
    private mutating func closeGesture(
        _ explicit: UInt64?, by command: Command, slot: Slot, room: Identifier
    ) -> UInt64 {
        guard case .transform(let element, _) = command else { return 0 }
        var track = self.connections[slot]?.memberships[room]?.elements[element] ?? ElementTrack()
        let gesture = explicit ?? track.openGesture ?? self.nextGesture(slot: slot, room: room)
        let last = self.connections[slot]?.memberships[room]?.lastGesture ?? 0
        self.connections[slot]?.memberships[room]?.lastGesture = max(last, gesture)
        if let open = track.openGesture, open <= gesture { track.openGesture = nil }
        if let held = track.held, held.gesture <= gesture { track.held = nil }
        track.pendingCommits += 1
        self.connections[slot]?.memberships[room]?.elements[element] = track
        return gesture
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

    // MARK: From the committer

    /// A commit has its result.
    package mutating func resulted(_ result: CommitResult, at now: UInt64) {
        let key = CommitKey(room: result.room, session: result.session, number: result.number)
        guard let pending = self.commits[key] else { return }
        if result.refusal?.code == .sessionExpired, result.connection != pending.commit.connection {
            // It is for a copy that the app sent on an earlier connection.
            return
        }
        if let refusal = result.refusal, refusal.code.isRetriable, self.retries(key, pending, refusal, at: now) {
            return
        }
        self.endCustody(of: key)
        self.answer(pending, refusal: result.refusal, seq: result.seq, json: result.json)
        self.release(pending, seq: result.refusal == nil ? result.seq : nil)
        if let refusal = result.refusal, !refusal.code.isRetriable {
            self.endGesture(ofRefused: pending.commit)
        }
    }

    /// What the gateway itself tries again: commits that it numbered, and commits that wait for one in its custody.
    private mutating func retries(
        _ key: CommitKey, _ pending: PendingCommit, _ refusal: Refusal, at now: UInt64
    ) -> Bool {
        switch refusal.code {
        case .gap:
            guard let expected = refusal.expected, expected < key.number else { return false }
            let missing = CommitKey(room: key.room, session: key.session, number: expected)
            guard let earlier = self.commits[missing] else { return false }
            if earlier.sendAgainAt > now + 50 { self.commits[missing]?.sendAgainAt = now }
            self.commits[key]?.sendAgainAt = now + 100
            return true
        case .sessionExpired:
            // Perhaps it is for a copy that was sent before the session was claimed anew.
            guard pending.olderCopies > 0 else { return false }
            self.commits[key]?.olderCopies -= 1
            self.commits[key]?.sendAgainAt = now + 50
            return true
        case .busy, .unavailable, .rateLimited:
            guard !pending.commit.isNumberedByApp else { return false }
            self.commits[key]?.sendAgainAt = now + UInt64(max(50, refusal.retryAfterMs ?? 200))
            return true
        default:
            return false
        }
    }

    private mutating func answer(_ pending: PendingCommit, refusal: Refusal?, seq: UInt64, json: [UInt8]) {
        if refusal == nil { self.recent.note(seq, in: pending.commit.room) }
        switch pending.origin {
        case .app(let slot, let connection, let ackID, let event):
            guard self.connections[slot]?.id == connection, !pending.wasGivenUp else { return }
            if refusal == nil { self.counters.acknowledged += 1 }
            if let ackID {
                self.actions.append(.acknowledge(slot, id: ackID, json: json))
            } else if let refusal {
                self.refuse(
                    refusal, slot: slot, ackID: nil, event: event, room: pending.commit.room,
                    element: pending.commit.command.element,
                    number: pending.commit.isNumberedByApp ? pending.commit.number : nil)
            }
        case .http(let request):
            self.counters.acknowledged += refusal == nil ? 1 : 0
            self.actions.append(
                .http(request: request, status: refusal.map(HTTPStatus.of) ?? HTTPStatus.created, json: json))
        }
    }

    /// Settles what a commit held up: the count of its session, and newer previews of its element.
    private mutating func release(_ pending: PendingCommit, seq: UInt64?) {
        guard case .app(let slot, let connection, _, _) = pending.origin, self.connections[slot]?.id == connection,
            var membership = self.connections[slot]?.memberships[pending.commit.room],
            SessionKey.sid(of: pending.commit.session) == membership.sid
        else { return }
        membership.unacknowledged = max(0, membership.unacknowledged - 1)
        if case .transform(let element, _) = pending.commit.command, var track = membership.elements[element] {
            track.pendingCommits = max(0, track.pendingCommits - 1)
            if let seq { track.lastSeq = max(track.lastSeq, seq) }
            membership.elements[element] = track
            if track.held != nil, track.pendingCommits == 0 { self.restless.insert(slot) }
        }
        self.connections[slot]?.memberships[pending.commit.room] = membership
    }

    private mutating func endGesture(ofRefused commit: Commit) {
        guard case .transform(let element, _) = commit.command, commit.gesture > 0 else { return }
        self.endGesture(
            GestureEnd(
                room: commit.room, element: element, user: commit.user, sid: SessionKey.sid(of: commit.session),
                gesture: commit.gesture))
    }

    /// The deadline of a commit has come without a result.
    mutating func commitTimedOut(_ key: CommitKey, at now: UInt64) {
        guard var pending = self.commits[key] else { return }
        let refusal = Refusal(.unavailable, "no result in time; it is safe to send again", retryAfterMs: 1000)
        if case .app(let slot, let connection, _, _) = pending.origin, !pending.commit.isNumberedByApp,
            self.connections[slot]?.id == connection
        {
            // The gateway's own numbers must go on without a hole, so this commit stays in custody.
            guard !pending.wasGivenUp else { return }
            self.answer(pending, refusal: refusal, seq: 0, json: EventText.refused(refusal))
            pending.wasGivenUp = true
            self.commits[key] = pending
            return
        }
        self.endCustody(of: key)
        self.answer(pending, refusal: refusal, seq: 0, json: EventText.refused(refusal))
        self.release(pending, seq: nil)
    }
}

extension Command {
    /// The one element that it is about, if it is one.
    var element: Identifier? {
        switch self {
        case .transform(let element, _), .update(let element, _), .delete(let element): element
        case .create, .refuse: nil
        }
    }
}
