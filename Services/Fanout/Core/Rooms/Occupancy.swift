internal import Timing
internal import Wire

/// The connections in a room, the gateways that they come through, and which of these get the room's stream.
///
/// A user is a member from the first connection to the last; hidden readers are no members.
struct Occupancy: Sendable {
    /// What ends with a connection.
    struct MemberDeparture: Equatable, Sendable {
        /// The user, when it was the last connection.
        var member: Member?
        /// The gateway, when it has no other connection here.
        var gateway: GatewayID?
    }

    /// A gateway with connections in the room.
    private struct Gateway: Sendable {
        let id: GatewayID
        var connections = 1
        /// Members there see a part of the canvas only.
        var hasViewports = false
    }

    fileprivate struct Occupant: Sendable {
        var gateway: GatewayID
        var member: Member
        var awareness = ShownAwareness(sid: "")
        var sessionBeganAt = Instant.never
        /// What it has selected, for answers to joins: written once, however many there are.
        var selectionText: [UInt8] = []
        /// The version of each part of what it shows.
        var versions = SIMD4<UInt64>.zero
        /// Its gateway's link went down, and the gateway has not named it since.
        var isStale = false
        /// The last of its joins that was answered here, and with which session.
        var answered: AnsweredJoin?

        var user: Identifier { self.member.user }
    }

    /// A join, and the session that it was answered with.
    fileprivate struct AnsweredJoin: Sendable {
        let request: UInt64
        let session: GrantedSession
    }

    /// A connection that left, and the session that it had to the end.
    fileprivate struct FormerSession: Sendable {
        let connection: UInt64
        let sid: Identifier
        /// This join may be sent again, by a gateway that has turned to another fan-out and back.
        let answered: AnsweredJoin?
    }

    private struct User: Sendable {
        /// As the connection names it that came last.
        var member: Member
        var connections: Int
        var order: UInt64
    }

    private var counts: [Gateway] = [] {
        didSet { self.hasViewports = self.counts.contains(where: \.hasViewports) }
    }
    /// True when a gateway needs to know where previews can be seen.
    private(set) var hasViewports = false
    /// The gateways that get the room's stream, in the order in which they began.
    private(set) var streaming: [GatewayID] = []
    fileprivate var occupants: [UInt64: Occupant] = [:]
    /// The connections of each session: one, but while a session moves on.
    fileprivate(set) var connectionsBySession: [Identifier: [UInt64]] = [:]
    /// The latest last: awareness of such a session may still be on its way when the connection is back under another one.
    fileprivate var former: [FormerSession] = []
    private static let formerKept = 64
    private var users: [Identifier: User] = [:]
    private var order: UInt64 = 0
    /// Roughly the bytes of all selections and states.
    fileprivate(set) var awarenessBytes = 0

    var isEmpty: Bool { self.counts.isEmpty }
    /// All gateways with connections here, in the order in which they came.
    var gateways: [GatewayID] { self.counts.map(\.id) }
    var connectionCount: Int { self.occupants.count }
    var userCount: Int { self.users.count }

    /// The first users and how many connections each has, in the order in which they came.
    func people(_ count: Int) -> [RoomReport.Person] {
        self.users.values.sorted { $0.order < $1.order }.prefix(count).map { user in
            RoomReport.Person(user: user.member.user, name: user.member.name, connections: user.connections)
        }
    }

    /// Every user once, in the order in which they came.
    var members: [Member] {
        self.users.values.sorted { $0.order < $1.order }.map(\.member)
    }

    /// What the connections of every user show, in the order of ``members``.
    var awareness: [[JoinReply.Shown]] {
        let seen = self.occupants.filter { !$0.value.member.isHidden }
        let ofUser = Dictionary(grouping: seen.sorted { $0.key < $1.key }, by: \.value.user)
        return self.members.map { member in
            ofUser[member.user]?.map { connection, occupant in
                JoinReply.Shown(occupant.awareness, of: connection, selection: occupant.selectionText)
            } ?? []
        }
    }

    /// About the bytes of ``members`` and ``awareness`` as JSON, known without making them.
    var answerBytes: Int {
        let members = self.users.values.reduce(0) { sum, user in
            let member = user.member
            return sum + 96 + member.user.text.utf8.count + member.name.utf8.count + member.color.utf8.count
        }
        return self.occupants.values.reduce(members) { sum, occupant in
            sum + 96 + occupant.selectionText.count + occupant.awareness.state.count
                + (occupant.awareness.viewport == nil ? 0 : 96)
        }
    }

    func isStreaming(_ gateway: GatewayID) -> Bool { self.streaming.contains(gateway) }

    func includes(_ connection: UInt64) -> Bool { self.occupants[connection] != nil }

    /// True for a connection that its gateway has not named since its link went down.
    func isInDoubt(_ connection: UInt64) -> Bool { self.occupants[connection]?.isStale ?? false }

    /// The gateway that needs no preview of this connection, because it has no other connection in the room.
    func loneGateway(of connection: UInt64) -> GatewayID? {
        guard self.counts.contains(where: { $0.connections == 1 }), let occupant = self.occupants[connection],
            self.counts.contains(where: { $0.id == occupant.gateway && $0.connections == 1 })
        else { return nil }
        return occupant.gateway
    }

    func user(of connection: UInt64) -> Identifier? { self.occupants[connection]?.user }

    /// True for a user's connection that is in the room without doubt.
    func isPresent(_ connection: UInt64, of user: Identifier) -> Bool {
        self.user(of: connection) == user && !self.isInDoubt(connection)
    }

    /// Starts or stops a gateway's stream; a gateway without connections here has none.
    mutating func stream(_ isOn: Bool, to gateway: GatewayID) {
        if !isOn {
            self.streaming.removeAll { $0 == gateway }
        } else if !self.isStreaming(gateway), self.counts.contains(where: { $0.id == gateway }) {
            self.streaming.append(gateway)
        }
    }

    /// Whether members at a gateway see a part of the canvas only.
    mutating func setViewports(_ hasViewports: Bool, at gateway: GatewayID) {
        guard let index = self.counts.firstIndex(where: { $0.id == gateway }) else { return }
        self.counts[index].hasViewports = hasViewports
    }

    /// A connection enters, or is named again.
    /// - Returns: the member when that is news: it is the user's first connection, or it shows the user by another name or
    ///   colour.
    mutating func enter(_ connection: UInt64, at gateway: GatewayID, as member: Member) -> Member? {
        if let known = self.occupants[connection] {
            if known.gateway == gateway, known.user == member.user {
                self.occupants[connection]?.isStale = false
                return self.rename(connection, member)
            }
            _ = self.leave(connection)
        }
        self.occupants[connection] = Occupant(gateway: gateway, member: member)
        if let index = self.counts.firstIndex(where: { $0.id == gateway }) {
            self.counts[index].connections += 1
        } else {
            self.counts.append(Gateway(id: gateway))
        }
        if member.isHidden { return nil }
        if self.users[member.user] != nil {
            self.users[member.user]?.connections += 1
            return self.rename(member)
        }
        self.order += 1
        self.users[member.user] = User(member: member, connections: 1, order: self.order)
        return member
    }

    /// A connection names its user, otherwise than before or not.
    /// - Returns: the member when others have seen another name or colour. What an older connection says once more is no
    ///   news.
    mutating func rename(_ connection: UInt64, _ member: Member) -> Member? {
        guard let known = self.occupants[connection], known.user == member.user, known.member != member else {
            return nil
        }
        self.occupants[connection]?.member = member
        return self.rename(member)
    }

    private mutating func rename(_ member: Member) -> Member? {
        guard self.users[member.user]?.member != member else { return nil }
        self.users[member.user]?.member = member
        return member
    }

    mutating func leave(_ connection: UInt64) -> MemberDeparture {
        var departure = MemberDeparture()
        guard let occupant = self.occupants.removeValue(forKey: connection) else { return departure }
        self.remove(connection, from: occupant.awareness.sid)
        self.awarenessBytes -= occupant.awareness.bytes
        if !occupant.awareness.sid.isEmpty || occupant.answered != nil {
            self.former.append(
                FormerSession(connection: connection, sid: occupant.awareness.sid, answered: occupant.answered))
            if self.former.count > Self.formerKept { self.former.removeFirst() }
        }
        if let index = self.counts.firstIndex(where: { $0.id == occupant.gateway }) {
            self.counts[index].connections -= 1
            if self.counts[index].connections <= 0 {
                self.counts.remove(at: index)
                self.stream(false, to: occupant.gateway)
                departure.gateway = occupant.gateway
            }
        }
        guard !occupant.member.isHidden, let user = self.users[occupant.user] else { return departure }
        if user.connections > 1 {
            self.users[occupant.user]?.connections -= 1
        } else {
            self.users.removeValue(forKey: occupant.user)
            departure.member = user.member
        }
        return departure
    }

    /// A gateway's link went down: its connections are in doubt and its stream stops.
    mutating func doubt(_ gateway: GatewayID) {
        self.stream(false, to: gateway)
        for (connection, occupant) in self.occupants where occupant.gateway == gateway {
            self.occupants[connection]?.isStale = true
        }
    }

    /// The connections of a gateway, or only those that it has not named again, in order of their numbers.
    func connections(of gateway: GatewayID, onlyStale: Bool) -> [UInt64] {
        self.occupants.filter { $0.value.gateway == gateway && ($0.value.isStale || !onlyStale) }.keys.sorted()
    }
}

// MARK: - Sessions and awareness

extension Occupancy {
    mutating func setSession(_ sid: Identifier, of connection: UInt64, at now: Instant) {
        guard let occupant = self.occupants[connection] else { return }
        if occupant.awareness.sid != sid {
            self.remove(connection, from: occupant.awareness.sid)
            if !sid.isEmpty { self.connectionsBySession[sid, default: []].append(connection) }
            self.occupants[connection]?.sessionBeganAt = now
            if let index = self.former.firstIndex(where: { $0.connection == connection && $0.sid == sid }) {
                let former = self.former.remove(at: index)
                self.occupants[connection]?.answered = occupant.answered ?? former.answered
            }
        }
        self.occupants[connection]?.awareness.sid = sid
    }

    private mutating func remove(_ connection: UInt64, from sid: Identifier) {
        self.connectionsBySession[sid]?.removeAll { $0 == connection }
        if self.connectionsBySession[sid]?.isEmpty == true { self.connectionsBySession[sid] = nil }
    }

    mutating func note(_ session: GrantedSession, answering join: Join) {
        self.occupants[join.connection]?.answered = AnsweredJoin(request: join.request, session: session)
    }

    /// The session that a join was answered with before; nil when that was not the last answer to its connection.
    func session(answering join: Join) -> GrantedSession? {
        let answered =
            self.occupants[join.connection]?.answered
            ?? self.former.last(where: { $0.connection == join.connection })?.answered
        return answered?.request == join.request ? answered?.session : nil
    }

    /// True when a session was in the room before a moment, through a connection that still has it.
    func wasHere(_ sid: Identifier, before moment: Instant) -> Bool {
        let connections = self.connectionsBySession[sid] ?? []
        return connections.contains { (self.occupants[$0]?.sessionBeganAt ?? .never) < moment }
    }

    /// What a connection shows; nil when it is not in the room.
    func awareness(of connection: UInt64) -> ShownAwareness? { self.occupants[connection]?.awareness }

    func connections(of sid: Identifier, except connection: UInt64) -> [UInt64] {
        (self.connectionsBySession[sid] ?? []).filter { $0 != connection }.sorted()
    }

    /// True when a connection of the room has shown nothing newer of that part, and not left since under the same session.
    func isNews(_ awareness: Awareness) -> Bool {
        guard let occupant = self.occupants[awareness.connection] else { return false }
        if occupant.awareness.sid != awareness.sid,
            self.former.contains(where: { $0.connection == awareness.connection && $0.sid == awareness.sid })
        {
            return false
        }
        return awareness.version > occupant.versions[Int(awareness.value.part.rawValue)]
    }

    /// The same as there is space for it: nothing when what the room's connections show would become too large.
    func bounded(_ awareness: Awareness) -> Awareness {
        let part = awareness.value.part
        let former = self.occupants[awareness.connection]?.awareness[part].bytes ?? 0
        if self.awarenessBytes - former + awareness.value.bytes <= ShownAwareness.roomBytes { return awareness }
        var bounded = awareness
        bounded.value = part.nothing
        return bounded
    }

    /// A connection of the room shows something else of a part.
    /// - Returns: what was shown before; nil when the connection is not in the room.
    mutating func show(_ awareness: Awareness) -> AwarenessValue? {
        guard var occupant = self.occupants[awareness.connection] else { return nil }
        let part = awareness.value.part
        let before = occupant.awareness[part]
        occupant.awareness[part] = awareness.value
        occupant.versions[Int(part.rawValue)] = awareness.version
        if part == .selection { occupant.selectionText = occupant.awareness.selectionText }
        self.awarenessBytes += awareness.value.bytes - before.bytes
        self.occupants[awareness.connection] = occupant
        return before
    }

    func shown(by connection: UInt64, in room: Identifier) -> [Awareness] {
        guard let occupant = self.occupants[connection] else { return [] }
        return occupant.awareness.records(in: room, of: connection, occupant.user).map { record in
            var record = record
            record.version = occupant.versions[Int(record.value.part.rawValue)]
            return record
        }
    }

    mutating func hide(_ connection: UInt64) {
        guard let shown = self.occupants[connection]?.awareness else { return }
        self.awarenessBytes -= shown.bytes
        self.occupants[connection]?.awareness = ShownAwareness(sid: shown.sid)
        self.occupants[connection]?.selectionText = []
    }

    /// What a gateway's members must be shown who have missed everything: of its own connections all but cursors, since
    /// these move on.
    func shown(to gateway: GatewayID, in room: Identifier) -> [Awareness] {
        self.occupants.sorted { $0.key < $1.key }.flatMap { connection, occupant in
            self.shown(by: connection, in: room).filter { occupant.gateway != gateway || $0.value.part != .cursor }
        }
    }
}
