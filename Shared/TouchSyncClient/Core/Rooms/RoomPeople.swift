public import Canvas
import JSONBytes

/// A user in a room, with all connections.
public struct RoomMember: Equatable, Sendable {
    /// Who it is.
    public let userId: String
    /// What others see of the user.
    public let name, color: String?
    /// The user's connections, in the order in which they were noticed.
    public fileprivate(set) var connections: [MemberConnection]
}

/// One connection of a user: one device, or one page.
public struct MemberConnection: Equatable, Sendable {
    /// The id of the connection's session in this room.
    public let sid: String
    /// Where the user points, pixels of the canvas; nil: nowhere.
    public fileprivate(set) var cursor: Point?
    /// The elements that the user has selected.
    public fileprivate(set) var selection: [String] = []
}

/// Who is in a room, as of the last join and of what followed.
struct RoomPeople: Sendable {
    private struct Entry: Sendable {
        /// Members that came earlier have smaller ones.
        let rank: Int
        var member: RoomMember
    }

    private var entries: [TextKey: Entry] = [:]
    private var lastRank = 0

    /// The members in the order in which they came.
    var members: [RoomMember] { self.entries.values.sorted { $0.rank < $1.rank }.map(\.member) }

    /// The members that the answer to a join has.
    mutating func met(_ members: JSONValue?) {
        self.entries = [:]
        for member in (members?.objects ?? []).compactMap(RoomMember.init(json:)) where self[member.userId] == nil {
            self[member.userId] = member
        }
    }

    /// An event about people.
    /// - Returns: what the app is to hear; nil if it is no such event, or about nobody who is here.
    mutating func eventReceived(_ event: String, _ data: JSONObject) -> RoomOutput? {
        switch event {
        case "member:joined":
            self.add(data.value)
            return .membersChanged
        case "member:left":
            self.remove(data["userId"]?.string)
            return .membersChanged
        case "cursor:moved": return self.attend(data, .cursor(data.value.point))
        case "selection:changed": return self.attend(data, .selection(data["elementIds"]?.strings ?? []))
        default: return nil
        }
    }

    /// Adds a member. A known one keeps its connections: events about these come one by one.
    private mutating func add(_ json: JSONValue) {
        guard var member = RoomMember(json: json) else { return }
        if let known = self[member.userId] { member.connections = known.connections }
        self[member.userId] = member
    }

    private mutating func remove(_ userId: String?) {
        if let userId { self[userId] = nil }
    }

    private mutating func attend(_ data: JSONObject, _ shift: AttentionShift) -> RoomOutput? {
        guard let userId = data["userId"]?.string, let sid = data["sid"]?.string,
            self.entries[TextKey(userId)]?.member.attend(sid: sid, shift) != nil
        else { return nil }
        return .attention(userId: userId, sid: sid, shift)
    }

    /// A member. One that is replaced keeps its place in the order.
    private subscript(userId: String) -> RoomMember? {
        get { self.entries[TextKey(userId)]?.member }
        set {
            let key = TextKey(userId)
            guard let newValue else {
                self.entries[key] = nil
                return
            }
            if self.entries[key] == nil { self.lastRank += 1 }
            self.entries[key, default: Entry(rank: self.lastRank, member: newValue)].member = newValue
        }
    }
}

extension RoomMember {
    fileprivate init?(json: JSONValue) {
        guard let userId = json["userId"]?.string else { return nil }
        self.userId = userId
        self.name = json["name"]?.string
        self.color = json["color"]?.string
        self.connections = (json["connections"]?.objects ?? []).compactMap(MemberConnection.init(json:))
    }

    fileprivate mutating func attend(sid: String, _ shift: AttentionShift) {
        var index = self.connections.firstIndex { TextKey($0.sid) == TextKey(sid) }
        if index == nil {
            self.connections.append(MemberConnection(sid: sid))
            index = self.connections.count - 1
        }
        guard let index else { return }
        switch shift {
        case .cursor(let cursor): self.connections[index].cursor = cursor
        case .selection(let selection): self.connections[index].selection = selection
        }
    }
}

extension MemberConnection {
    fileprivate init?(json: JSONValue) {
        guard let sid = json["sid"]?.string else { return nil }
        self.sid = sid
        self.cursor = json["cursor"]?.point
        self.selection = json["selection"]?.strings ?? []
    }
}
