public import Canvas
import JSONBytes

/// A user in a room, with all connections.
public struct RoomMember: Equatable, Identifiable, Sendable {
    /// Who it is.
    public let userId: String
    /// The same, as lists of views want it.
    public var id: String { self.userId }
    /// What others see of the user.
    public let name, color: String?
    /// The user's connections that were there at the join, or have shown something since, in the order in which they were
    /// noticed.
    public fileprivate(set) var connections: [MemberConnection]
}

/// Who this user is in a room.
public struct OwnMembership: Equatable, Sendable {
    /// The id.
    public let userId: String
    /// What others see of this connection's user; another connection may have another name for the same user.
    public let name, color: String?
    /// What the user may do there; nil when the server does not say it, or says what is not known here.
    public let right: RoomRight?
}

/// What a user may do in a room. Each right includes those before it.
public enum RoomRight: String, Equatable, Sendable, CaseIterable, Comparable {
    /// See it.
    case view
    /// Show others what moves, and awareness.
    case preview
    /// Edit it.
    case commit

    public static func < (left: RoomRight, right: RoomRight) -> Bool {
        switch (left, right) {
        case (.view, .preview), (.view, .commit), (.preview, .commit): true
        default: false
        }
    }
}

/// One connection of a user: one device, or one page.
public struct MemberConnection: Equatable, Identifiable, Sendable {
    /// The id of the connection's session in this room.
    public let sid: String
    /// The same, as lists of views want it.
    public var id: String { self.sid }
    /// Where the user points, pixels of the canvas; nil: nowhere.
    public fileprivate(set) var cursor: Point?
    /// The elements that the user has selected.
    public fileprivate(set) var selection: [String] = []
    /// The app's own state, the text of a JSON object; nil: none.
    public fileprivate(set) var state: String?
    /// The part of the canvas that the user sees, pixels; nil: it is not shared.
    public fileprivate(set) var viewport: Rect?
}

/// Who is in a room, as of the last join and the events since. The cost of a cursor, of a member who joins and of one
/// who leaves does not depend on the number of members.
struct RoomPeople: Sendable {
    /// The members in the order in which they came; nil where one left.
    private var places: [RoomMember?] = []
    /// Where in `places` the user of an id is.
    private var indices: [TextKey: Int] = [:]
    /// Who this user is there, as of the last join; nil before the first.
    private(set) var own: OwnMembership?

    var members: [RoomMember] { self.places.compactMap(\.self) }

    /// The members that the answer to a join has, and who this user is.
    mutating func met(_ answer: JSONObject) {
        (self.places, self.indices) = ([], [:])
        self.own = answer["self"].flatMap(OwnMembership.init(json:))
        for member in (answer["members"]?.objects ?? []).compactMap(RoomMember.init(json:))
        where self[member.userId] == nil {
            self[member.userId] = member
        }
    }

    /// An event about people.
    /// - Returns: what the app is to hear; nil if it is no such event, or about nobody who is here.
    mutating func eventReceived(_ event: String, _ data: JSONObject) -> RoomOutput? {
        switch event {
        case "member:joined", "member:changed":
            self.add(data.value)
            return .membersChanged
        case "member:left":
            self.remove(data["userId"]?.string)
            return .membersChanged
        case "cursor:moved": return self.attend(data, .cursor(data.value.point))
        case "selection:changed": return self.attend(data, .selection(data["elementIds"]?.strings ?? []))
        case "presence:changed": return self.attend(data, .state(data["state"]?.objectText))
        case "viewport:changed": return self.attend(data, .viewport(data.value.rect))
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

    private mutating func attend(_ data: JSONObject, _ shift: AwarenessShift) -> RoomOutput? {
        guard let userId = data["userId"]?.string, let sid = data["sid"]?.string,
            let index = self.indices[TextKey(userId)], self.places[index]?.attend(sid: sid, shift) != nil
        else { return nil }
        return .awareness(userId: userId, sid: sid, shift)
    }

    /// A member. One that is replaced keeps its place in the order.
    private subscript(userId: String) -> RoomMember? {
        get { self.indices[TextKey(userId)].flatMap { self.places[$0] } }
        set {
            let key = TextKey(userId)
            guard let newValue else { return self.removePlace(of: key) }
            if let index = self.indices[key] {
                self.places[index] = newValue
            } else {
                self.indices[key] = self.places.count
                self.places.append(newValue)
            }
        }
    }

    /// Empties a place. They are closed up when most of them are empty, so that no leaving member pays for all others.
    private mutating func removePlace(of key: TextKey) {
        guard let index = self.indices.removeValue(forKey: key) else { return }
        self.places[index] = nil
        guard self.places.count > 2 * self.indices.count else { return }
        self.places.removeAll { $0 == nil }
        for (index, member) in self.members.enumerated() { self.indices[TextKey(member.userId)] = index }
    }
}

extension OwnMembership {
    fileprivate init?(json: JSONValue) {
        guard let userId = json["userId"]?.string else { return nil }
        self.userId = userId
        self.name = json["name"]?.string
        self.color = json["color"]?.string
        self.right = json["right"]?.string.flatMap(RoomRight.init(rawValue:))
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

    fileprivate mutating func attend(sid: String, _ shift: AwarenessShift) {
        var index = self.connections.firstIndex { TextKey($0.sid) == TextKey(sid) }
        if index == nil {
            self.connections.append(MemberConnection(sid: sid))
            index = self.connections.count - 1
        }
        guard let index else { return }
        switch shift {
        case .cursor(let cursor): self.connections[index].cursor = cursor
        case .selection(let selection): self.connections[index].selection = selection
        case .state(let state): self.connections[index].state = state
        case .viewport(let viewport): self.connections[index].viewport = viewport
        }
    }
}

extension MemberConnection {
    fileprivate init?(json: JSONValue) {
        guard let sid = json["sid"]?.string else { return nil }
        self.sid = sid
        self.cursor = json["cursor"]?.point
        self.selection = json["selection"]?.strings ?? []
        self.state = json["state"]?.objectText
        self.viewport = json["viewport"]?.rect
    }
}

extension JSONValue {
    fileprivate var objectText: String? {
        self.kind == .object ? String(decoding: self.rawBytes, as: UTF8.self) : nil
    }

    package var rect: Rect? {
        guard let x = self["x"]?.double, let y = self["y"]?.double, let width = self["width"]?.double,
            let height = self["height"]?.double
        else { return nil }
        return Rect(x: x, y: y, width: width, height: height)
    }
}
