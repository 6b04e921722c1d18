internal import Canvas
internal import Timing
internal import Wire

/// Who sees a room: its members, the gateways that they come through, and what each connection shows of its person.
///
/// What it sends goes to the gateways that stream the room; what is outside of the numbered stream goes also to those
/// that still catch up.
struct RoomAudience: Sendable {
    let name: Identifier
    private(set) var occupancy = Occupancy()
    private(set) var catchUps = CatchUps()
    private var owners = SessionOwners()

    init(of room: Identifier) { self.name = room }

    /// Roughly the bytes that it occupies.
    var footprint: Int { self.occupancy.connectionCount * 400 + self.occupancy.awarenessBytes * 2 }

    // MARK: Who is there

    var isEmpty: Bool { self.occupancy.isEmpty }
    /// True when a gateway needs to know where previews can be seen.
    var needsAreas: Bool { self.occupancy.hasViewports }

    /// The user of a connection; nil when it is not in the room.
    func user(of connection: UInt64) -> Identifier? { self.occupancy.user(of: connection) }

    /// The connections that a gateway has not named again since its link went down.
    func connectionsInDoubt(of gateway: GatewayID) -> [UInt64] {
        self.occupancy.connections(of: gateway, onlyStale: true)
    }

    /// True when a preview's session belongs to another connection than its own.
    func isSuperseded(_ preview: Preview) -> Bool {
        self.owners.isSuperseded(preview.sid, from: preview.connection)
    }

    /// True for a join that was answered, with a session that another connection has by now.
    func hasLostSession(_ join: Join) -> Bool {
        guard let session = self.occupancy.session(answering: join) else { return false }
        return self.occupancy.awareness(of: join.connection)?.sid == ""
            || self.owners.isSuperseded(session.sid, from: join.connection)
    }

    /// True when a gesture is another device's than the one whose session is named: that of a connection of the user that
    /// is here, begun while the session was, too.
    func isElsewhere(_ gesture: ShownGesture, of user: Identifier, than sid: Identifier) -> Bool {
        self.occupancy.isPresent(gesture.connection, of: user)
            && self.occupancy.wasHere(sid, before: gesture.beganAt)
    }

    // MARK: Gateways

    /// A gateway names its connections and its position: its stream stops, until it has caught up from there.
    ///
    /// It does not name a connection whose join was answered here after it wrote the interest, nor one that joins again.
    /// So only those are gone that were in doubt: for any other one that leaves, it says so.
    /// - Returns: the members of whom others are to hear, and connections of the gateway that are gone.
    mutating func interestReceived(
        _ interest: RoomInterest, from gateway: GatewayID
    ) -> (joined: [(member: Member, connection: UInt64)], gone: [UInt64]) {
        self.occupancy.stream(false, to: gateway)
        self.catchUps.begin(gateway, at: interest.position)
        var joined: [(Member, UInt64)] = []
        for occupant in interest.occupants {
            let member = self.occupancy.enter(occupant.connection, at: gateway, as: occupant.member)
            if let member { joined.append((member, occupant.connection)) }
        }
        self.occupancy.setViewports(interest.hasViewports, at: gateway)
        let named = Set(interest.occupants.map(\.connection))
        let gone = self.occupancy.connections(of: gateway, onlyStale: true).filter { !named.contains($0) }
        return (joined, gone)
    }

    /// A gateway asks another fan-out from now on.
    /// - Returns: its connections, which are still in the room.
    mutating func interestEnded(of gateway: GatewayID) -> [UInt64] {
        _ = self.catchUps.cancel(gateway)
        return self.occupancy.connections(of: gateway, onlyStale: false)
    }

    /// Members at a gateway see a part of the canvas only.
    mutating func areasNeeded(at gateway: GatewayID) { self.occupancy.setViewports(true, at: gateway) }

    /// What a gateway needs next, now that the room is at the end of `stream`; one that is finished gets the stream.
    /// - Parameter rows: what the log had, when it was read for this.
    mutating func advanceCatchUp(
        of gateway: GatewayID, along stream: RoomStream, in history: DatabaseHistory, rows: [Update]?,
        limits: FanoutLimits
    ) -> CatchUps.Step {
        let step = self.catchUps.advance(gateway, along: stream, in: history, rows: rows, limits: limits)
        if case .finish = step { self.occupancy.stream(true, to: gateway) }
        return step
    }

    /// The log is read for a gateway that catches up.
    mutating func logAsked(_ tag: UInt64, for gateway: GatewayID) { self.catchUps.logAsked(tag, for: gateway) }

    // MARK: The stream

    func stream(_ update: Update, into actions: inout [FanoutAction]) {
        let streaming = self.occupancy.streaming
        if !streaming.isEmpty { actions.append(.broadcast(.update(update), to: streaming, except: nil)) }
    }

    /// Sends a preview of an element, except to a gateway that has no other connection here than the one that moves it.
    func show(_ preview: Preview, into actions: inout [FanoutAction]) {
        let streaming = self.occupancy.streaming
        if streaming.isEmpty { return }
        let lone = self.occupancy.loneGateway(of: preview.connection)
        if let lone, streaming.count == 1, streaming[0] == lone { return }
        actions.append(.broadcast(.preview(preview), to: streaming, except: lone))
    }

    /// The room jumped: all gateways catch up from the position that it was at.
    mutating func jumped(from position: Position) {
        for gateway in self.occupancy.streaming {
            self.occupancy.stream(false, to: gateway)
            self.catchUps.begin(gateway, at: position)
        }
    }

    /// A gateway's link went down: its stream stops, its members stay in doubt.
    mutating func linkDown(to gateway: GatewayID) {
        self.occupancy.doubt(gateway)
        _ = self.catchUps.cancel(gateway)
    }

    // MARK: Comings and goings

    /// A connection enters with the answer to its join, or joins once more; its gateway gets the stream.
    /// - Returns: the member when others are to hear of it, and whether the connection was there before.
    mutating func enter(
        _ connection: UInt64, at gateway: GatewayID, as member: Member, into actions: inout [FanoutAction]
    ) -> (joined: Member?, wasThere: Bool) {
        let wasThere = self.occupancy.includes(connection)
        // It may have left before, and the leave was lost with the link. After the answer the gateway says what it shows.
        if self.occupancy.isInDoubt(connection) { self.hideAwareness(of: connection, into: &actions) }
        let joined = self.occupancy.enter(connection, at: gateway, as: member)
        self.occupancy.stream(true, to: gateway)
        return (joined, wasThere)
    }

    /// A join is answered with a session, which is its connection's from now on.
    mutating func grant(
        _ session: GrantedSession, answering join: Join, at now: Instant, into actions: inout [FanoutAction]
    ) {
        if session.isResumed { self.claimed(session.sid, session.sessionEpoch, by: join.connection, into: &actions) }
        self.sessionStarted(session.sid, of: join.connection, isResumed: session.isResumed, at: now, into: &actions)
        self.occupancy.note(session, answering: join)
    }

    /// A connection owns a session under this epoch, which the gateways are sent. One that is not the newest is ignored.
    mutating func claimed(
        _ sid: Identifier, _ sessionEpoch: UInt32, by connection: UInt64, into actions: inout [FanoutAction]
    ) {
        guard self.owners.claimed(sid, sessionEpoch, by: connection) else { return }
        self.broadcast(
            .sessionClaimed(SessionClaimed(room: self.name, sid: sid, sessionEpoch: sessionEpoch)), into: &actions)
    }

    /// A connection leaves.
    /// - Parameter isSilent: its user is still in the room, elsewhere.
    /// - Returns: true when its gateway leaves with it and need not catch up any more.
    mutating func depart(
        _ connection: UInt64, isSilent: Bool = false, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) -> Bool {
        self.hideAwareness(of: connection, into: &actions)
        let departure = self.occupancy.leave(connection)
        self.owners.remove(connection)
        var isFreed = false
        if let gateway = departure.gateway {
            services.gateways.left(self.name, by: gateway)
            isFreed = self.catchUps.cancel(gateway)
        }
        if let member = departure.member, !isSilent {
            self.announce(member, hasJoined: false, except: 0, into: &actions)
        }
        return isFreed
    }

    // MARK: Records

    mutating func memberRenamed(_ renamed: MemberRenamed, into actions: inout [FanoutAction]) {
        guard let member = self.occupancy.rename(renamed.connection, renamed.member) else { return }
        self.announce(member, hasJoined: true, except: 0, into: &actions)
    }

    /// Tells members that one came, is shown otherwise or went. `except` is the member's connection, which hears of it otherwise.
    /// - Parameter gateway: the one that named the member, and knows.
    func announce(
        _ member: Member, hasJoined: Bool, except: UInt64, namedBy gateway: GatewayID? = nil,
        into actions: inout [FanoutAction]
    ) {
        let presence = Presence(room: self.name, hasJoined: hasJoined, member: member, except: except)
        self.broadcast(.presence(presence), except: gateway, into: &actions)
    }

    /// Sends who is in the room, to one gateway or, if that is nil, to all of them.
    /// - Parameter isComplete: false while gateways may still come whose members have been here all along.
    func sendMembers(to gateway: GatewayID?, isComplete: Bool, into actions: inout [FanoutAction]) {
        for part in RoomMembers.parts(of: self.occupancy.members, in: self.name, isComplete: isComplete) {
            if let gateway {
                actions.append(.send(.roomMembers(part), to: gateway))
            } else {
                self.broadcast(.roomMembers(part), into: &actions)
            }
        }
    }

    /// Sends on what a connection tells the others.
    /// - Returns: false when it is not in the room, or its session is another connection's.
    func send(_ signal: RoomSignal, into actions: inout [FanoutAction]) -> Bool {
        guard self.occupancy.user(of: signal.connection) == signal.user,
            !self.owners.isSuperseded(signal.sid, from: signal.connection)
        else { return false }
        self.broadcast(.signal(signal), except: self.occupancy.loneGateway(of: signal.connection), into: &actions)
        return true
    }

    /// Sends what is outside of the numbered stream.
    func broadcast(_ record: GatewayRecord, except: GatewayID? = nil, into actions: inout [FanoutAction]) {
        var audience = self.occupancy.streaming
        if !self.catchUps.isEmpty {
            audience = self.occupancy.gateways.filter {
                self.occupancy.isStreaming($0) || self.catchUps.includes($0)
            }
        }
        if !audience.isEmpty { actions.append(.broadcast(record, to: audience, except: except)) }
    }
}

// MARK: - Awareness

/// Part of what the room's gateways see, outside of the numbered stream.
///
///     awareness ──► kept with its connection, sent on ──► the connection leaves, or its session moves on ──► hidden
extension RoomAudience {
    mutating func awarenessReceived(
        _ awareness: Awareness, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        guard !self.owners.isSuperseded(awareness.sid, from: awareness.connection), self.occupancy.isNews(awareness)
        else {
            services.counters.awarenessDropped += 1
            return
        }
        // The gateway knows best: a join that was sent twice is answered with two sessions.
        self.sessionStarted(awareness.sid, of: awareness.connection, isResumed: false, at: now, into: &actions)
        var shown = self.occupancy.bounded(awareness)
        let before = self.occupancy.show(shown)
        // Who saw the cursor must see it go. Where it is hidden everybody must: a viewport may have left it behind.
        if self.occupancy.hasViewports, case .cursor(let cursor?) = shown.value {
            if case .cursor(let former?) = before {
                shown.area = PreviewArea(Rect(around: [former, cursor]))
            } else {
                shown.area = PreviewArea(Rect(around: [cursor]))
            }
        }
        self.broadcast(.awareness(shown), into: &actions)
    }

    /// A gateway says what a connection shows.
    mutating func awarenessNamed(
        _ occupant: RoomInterest.Occupant, from gateway: GatewayID, at now: Instant,
        with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        let (connection, awareness) = (occupant.connection, occupant.awareness)
        // A gateway says nothing of it when the session is another connection's.
        guard !awareness.sid.isEmpty else { return }
        let isResumed = occupant.sessionEpoch > 1
        // Another fan-out may have answered the join that claimed the session.
        if isResumed { self.claimed(awareness.sid, occupant.sessionEpoch, by: connection, into: &actions) }
        if let sessionEpoch = self.owners.sessionEpoch(of: awareness.sid, ofOtherThan: connection) {
            // The session moved on while the gateway was not here. It hears so ahead of the room's position, with which it
            // hides what the connection showed.
            let claimed = SessionClaimed(room: self.name, sid: awareness.sid, sessionEpoch: sessionEpoch)
            return actions.append(.send(.sessionClaimed(claimed), to: gateway))
        }
        self.sessionStarted(awareness.sid, of: connection, isResumed: isResumed, at: now, into: &actions)
        let before = self.occupancy.awareness(of: connection)
        for part in AwarenessPart.allCases where awareness[part] != before?[part] {
            let news = Awareness(
                room: self.name, connection: connection, user: occupant.member.user, sid: awareness.sid,
                version: awareness.version, value: awareness[part])
            self.awarenessReceived(news, at: now, with: &services, into: &actions)
        }
    }

    /// A connection is in the room under a session from now on.
    /// - Parameter isResumed: another connection may have had the session before.
    mutating func sessionStarted(
        _ sid: Identifier, of connection: UInt64, isResumed: Bool, at now: Instant, into actions: inout [FanoutAction]
    ) {
        if isResumed {
            for former in self.occupancy.connections(of: sid, except: connection) {
                self.hideAwareness(of: former, into: &actions)
                self.occupancy.setSession("", of: former, at: now)
            }
        }
        if self.occupancy.awareness(of: connection)?.sid != sid {
            self.hideAwareness(of: connection, into: &actions)
        }
        self.occupancy.setSession(sid, of: connection, at: now)
    }

    /// Others see nothing of a connection any more.
    mutating func hideAwareness(of connection: UInt64, into actions: inout [FanoutAction]) {
        let shown = self.occupancy.shown(by: connection, in: self.name)
        self.occupancy.hide(connection)
        for awareness in shown { self.broadcast(.awareness(awareness.hidden), into: &actions) }
    }

    /// Sends a gateway what is shown: it starts over with each position of the stream.
    func sendAwareness(to gateway: GatewayID, into actions: inout [FanoutAction]) {
        for awareness in self.occupancy.shown(to: gateway, in: self.name) {
            actions.append(.send(.awareness(awareness), to: gateway))
        }
    }
}

/// The sessions of a room that a newer connection claimed, and the connection that owns each now.
struct SessionOwners: Sendable {
    private struct Owner: Sendable {
        var sessionEpoch: UInt32
        var connection: UInt64
    }

    private var owners: [Identifier: Owner] = [:]
    /// The session that a connection claimed.
    private var sids: [UInt64: Identifier] = [:]

    /// True when the session belongs to another connection.
    func isSuperseded(_ sid: Identifier, from connection: UInt64) -> Bool {
        self.sessionEpoch(of: sid, ofOtherThan: connection) != nil
    }

    /// The session epoch under which another connection owns the session; nil when none does.
    func sessionEpoch(of sid: Identifier, ofOtherThan connection: UInt64) -> UInt32? {
        guard !self.owners.isEmpty, let owner = self.owners[sid], owner.connection != connection else { return nil }
        return owner.sessionEpoch
    }

    /// A connection owns a session under a session epoch. Returns false when a newer one is known.
    mutating func claimed(_ sid: Identifier, _ sessionEpoch: UInt32, by connection: UInt64) -> Bool {
        guard (self.owners[sid]?.sessionEpoch ?? 0) < sessionEpoch else { return false }
        if self.sids[connection] != sid { self.remove(connection) }
        self.owners[sid] = Owner(sessionEpoch: sessionEpoch, connection: connection)
        self.sids[connection] = sid
        return true
    }

    /// A connection is gone, or has another session now: the one that it owned has no owner here.
    mutating func remove(_ connection: UInt64) {
        guard let sid = self.sids.removeValue(forKey: connection), self.owners[sid]?.connection == connection
        else { return }
        self.owners.removeValue(forKey: sid)
    }
}
