import Auth
import DequeModule
import JSONBytes
package import Wire

extension Gateway {
    /// An app connected and was accepted as `identity`. It joins the handshake's room at once.
    /// - Returns: the slot that stands for it.
    package mutating func connected(
        identity: Identity, handshake: HandshakeFields, at now: UInt64
    ) -> Slot {
        let connection = ClientConnection(
            id: self.newConnectionID(), identity: identity, isLegacy: handshake.room != nil,
            wantsPreviews: handshake.previews,
            previewBucket: TokenBucket(
                capacity: self.limits.previewsPerSecond, perSecond: self.limits.previewsPerSecond, now: now),
            commitBucket: TokenBucket(
                capacity: self.limits.commitBurst, perSecond: self.limits.commitsPerSecond, now: now))
        let slot: Slot
        if let free = self.freeSlots.popLast() {
            self.connections[free] = connection
            self.connectionIDs[free] = connection.id
            slot = free
        } else {
            slot = self.connections.count
            self.connections.append(connection)
            self.connectionIDs.append(connection.id)
        }
        self.slots[connection.id] = slot
        if let room = handshake.room {
            self.startJoin(
                slot: slot, ackID: nil, room: room, session: "", resume: nil, wantsPreviews: handshake.previews, at: now
            )
        }
        return slot
    }

    /// Who an app is, from its handshake: by its token, or in open mode by its own word.
    /// - Parameters:
    ///   - guest: a random name for one that gives none.
    ///   - seconds: the time since 1970, for the token's end.
    package func identify(
        _ handshake: HandshakeFields, guest: String, seconds: Int64
    ) -> Result<Identity, Refusal> {
        guard let tokens = self.tokens else {
            let user = handshake.user ?? guest
            return .success(
                Identity(
                    member: Member(
                        user: Identifier(user), name: handshake.name ?? user, color: handshake.color ?? Self.plainColor)
                ))
        }
        guard let token = handshake.token else {
            return .failure(Refusal(.forbidden, "A token is required.", field: "token"))
        }
        return Self.identity(by: tokens, token, seconds: seconds).flatMap { identity in
            if let room = handshake.room, !identity.may(.view, in: room) {
                return .failure(Refusal(.forbidden, "The token gives no right to this room.", field: "roomId"))
            }
            return .success(identity)
        }
    }

    private static func identity(
        by tokens: TokenVerifier, _ token: String, seconds: Int64
    ) -> Result<Identity, Refusal> {
        do {
            let claims = try tokens.verify(token, at: seconds)
            let member = Member(
                user: Identifier(claims.user), name: claims.name ?? claims.user, color: claims.color ?? Self.plainColor)
            return .success(Identity(member: member, rights: claims.rights, expiresAt: claims.expiresAt))
        } catch {
            return .failure(Refusal(error))
        }
    }

    /// The colour of a user that names none.
    private static let plainColor = "#888888"

    /// An app disconnected. Its commits stay in custody until their results or deadlines.
    package mutating func disconnected(_ slot: Slot, at now: UInt64) {
        guard self.connections.indices.contains(slot), let connection = self.connections[slot] else { return }
        for (room, membership) in connection.memberships {
            self.orphanGestures(of: membership, member: connection.identity.member, in: room, at: now)
            self.leaveView(slot, room: room)
            self.actions.append(
                .fanout(shard: Shard.of(room: room), .leave(Leave(room: room, connection: connection.id))))
        }
        for waiting in connection.delayed { self.custody.unreserve(waiting.edit.weight) }
        self.restless.remove(slot)
        self.slots[connection.id] = nil
        self.connections[slot] = nil
        self.connectionIDs[slot] = 0
        self.freeSlots.append(slot)
    }

    /// An app's connection is about to be closed: no more commits are accepted from it.
    package mutating func startLeaving(_ slot: Slot) {
        guard self.connections.indices.contains(slot) else { return }
        self.connections[slot]?.isLeaving = true
    }

    /// True while an app has commits here without a result.
    package func owesResults(to slot: Slot) -> Bool {
        guard self.connections.indices.contains(slot) else { return false }
        return self.connections[slot]?.owesResults ?? false
    }

    private mutating func orphanGestures(
        of membership: Membership, member: Member, in room: Identifier, at now: UInt64
    ) {
        for (element, track) in membership.elements {
            if let held = track.held { self.forward(held) }
            guard let gesture = track.openGesture else { continue }
            let base = GestureNumbers.base(claim: membership.claim)
            self.orphans.append(
                OrphanedGesture(
                    end: GestureEnd(
                        room: room, element: element, user: member.user, sid: membership.sid, gesture: gesture),
                    mayContinue: gesture <= base, endsAt: now + Self.orphanMs))
        }
    }

    mutating func leaveView(_ slot: Slot, room: Identifier) {
        // What it moved last is shown, whatever the pace.
        self.sendOn(room)
        self.rooms[room]?.remove(slot)
        self.forgetIfEmpty(room)
    }

    // MARK: Tokens

    /// `auth:refresh`: a new token for the same user.
    mutating func refreshToken(slot: Slot, ackID: UInt64?, token: String?, seconds: Int64) {
        guard let tokens = self.tokens else {
            self.refuse(
                Refusal(.invalid, "This server uses no tokens.", field: "token"), slot: slot, ackID: ackID,
                event: "auth:refresh")
            return
        }
        guard let token else {
            self.refuse(
                Refusal(.invalid, "A token is a string.", field: "token"), slot: slot, ackID: ackID,
                event: "auth:refresh")
            return
        }
        switch Self.identity(by: tokens, token, seconds: seconds) {
        case .failure(let refusal):
            self.refuse(refusal, slot: slot, ackID: ackID, event: "auth:refresh")
        case .success(let identity):
            guard identity.member.user == self.connections[slot]?.identity.member.user else {
                self.refuse(
                    Refusal(.forbidden, "The token is another user's.", field: "token"), slot: slot, ackID: ackID,
                    event: "auth:refresh")
                return
            }
            self.connections[slot]?.identity = identity
            self.connections[slot]?.wasWarned = false
            self.leaveForbiddenRooms(slot)
            guard let ackID else { return }
            var writer = JSONWriter(reserving: 64)
            writer.beginObject()
            writer.key("ok")
            writer.value(true)
            if let expiresAt = identity.expiresAt {
                writer.key("expiresAt")
                writer.value(expiresAt)
            }
            writer.endObject()
            self.actions.append(.acknowledge(slot, id: ackID, json: writer.bytes))
        }
    }

    private mutating func leaveForbiddenRooms(_ slot: Slot) {
        guard let connection = self.connections[slot] else { return }
        for room in connection.memberships.rooms where !connection.identity.may(.view, in: room) {
            self.leave(slot: slot, room: room)
        }
    }

    /// Warns apps whose tokens end within 30 s and disconnects those whose tokens have ended. The shell calls it once
    /// in a while, in token mode only.
    /// - Parameter seconds: the time since 1970.
    package mutating func checkTokens(seconds: Int64) {
        for slot in self.connections.indices {
            guard let connection = self.connections[slot], let expiresAt = connection.identity.expiresAt else {
                continue
            }
            if seconds >= expiresAt {
                self.actions.append(.emit(slot, json: Self.sessionExpired(in: 0)))
                self.actions.append(.disconnect(slot))
            } else if seconds + 30 >= expiresAt, !connection.wasWarned {
                self.connections[slot]?.wasWarned = true
                self.actions.append(.emit(slot, json: Self.sessionExpired(in: expiresAt - seconds)))
            }
        }
    }

    private static func sessionExpired(in seconds: Int64) -> [UInt8] {
        EventText.event("auth:error", room: nil) { writer in
            writer.key("code")
            writer.value(RefusalCode.sessionExpired.name)
            writer.key("message")
            writer.value(seconds == 0 ? "The token has expired." : "The token expires soon.")
            writer.key("expiresInMs")
            writer.value(seconds * 1000)
        }
    }
}

/// How the gateway numbers gestures for apps that do not.
enum GestureNumbers {
    /// Below the first number that the gateway gives to one owner of a session: each owner has a range of its own, so
    /// that a resumed session never repeats a closed gesture.
    static func base(claim: UInt32) -> UInt64 {
        UInt64(claim > 0 ? claim - 1 : 0) * 1_000_000
    }
}
