internal import Auth
package import JSONBytes
package import Wire

/// What an app names when it connects, from its auth payload, the query or headers; the same thing given twice must
/// agree.
package struct HandshakeFields: Equatable, Sendable {
    package var token: String?
    /// The room to join immediately, if one was given.
    package var room: Identifier?
    /// What the connection gets of its rooms.
    package var options = StreamOptions()
    /// True when previews that leave together come in one message.
    package var batches = false
    /// The user's id (open mode only).
    package var user: String?
    /// The name to show (open mode only), without the hidden characters that it had.
    package var name: String?
    /// The colour to show (open mode only), likewise.
    package var color: String?

    package static let maxTokenBytes = 8 * 1024
    package static let maxNameBytes = 128
    package static let maxColorBytes = 32

    /// None.
    package init() {}

    /// Collects the fields.
    /// - Parameters:
    ///   - auth: the Socket.IO CONNECT payload; nil when there was none.
    ///   - query: looks up a parameter of the request's query.
    ///   - header: looks up a header.
    /// - Throws: ``Wire/Refusal`` with code `invalid` and the field's name.
    package init(
        auth: JSONValue?, query: (StaticString) -> String?, header: (StaticString) -> String?
    ) throws(Refusal) {
        var bearer: String?
        if let authorization = header("authorization") {
            let prefix = "bearer "
            guard authorization.lowercased().hasPrefix(prefix) else {
                throw Refusal(.invalid, "Authorization carries a Bearer token.", field: "token")
            }
            bearer = String(authorization.dropFirst(prefix.count))
        }
        func text(
            _ field: StaticString, _ header: String?, max: Int, isShown: Bool = false
        ) throws(Refusal) -> String? {
            try Self.text("\(field)", [query(field), header], auth?["\(field)"], max: max, isShown: isShown)
        }
        func flag(_ field: StaticString, _ header: String?) throws(Refusal) -> Bool? {
            try Self.flag("\(field)", [query(field), header], auth?["\(field)"])
        }
        self.token = try text("token", bearer, max: Self.maxTokenBytes)
        if let room = try text("roomId", header("x-touchsync-room"), max: 64) { self.room = try RoomID.parse(room) }
        self.user = try text("userId", header("x-touchsync-user"), max: Self.maxNameBytes)
        self.name = try text("name", header("x-touchsync-name"), max: Self.maxNameBytes, isShown: true)?.withoutHidden
        self.color =
            try text("color", header("x-touchsync-color"), max: Self.maxColorBytes, isShown: true)?.withoutHidden
        self.options = self.options.and(
            previews: try flag("previews", header("x-touchsync-previews")),
            motion: try flag("motion", header("x-touchsync-motion")))
        self.batches = try flag("batches", header("x-touchsync-batches")) ?? false
    }

    /// - Parameter isShown: whether people read it, who are spared what they cannot see. What identifies must have none.
    private static func text(
        _ field: String, _ sources: [String?], _ auth: JSONValue?, max: Int, isShown: Bool
    ) throws(Refusal) -> String? {
        var texts = sources.compactMap(\.self)
        if let auth {
            guard let text = auth.string else { throw Refusal(.invalid, "\(field) is a string.", field: field) }
            texts.append(text)
        }
        guard let found = texts.first else { return nil }
        guard texts.allSatisfy({ $0 == found }) else { throw .givenTwice(field) }
        guard !found.isEmpty, found.utf8.count <= max else {
            throw Refusal(.invalid, "\(field) has 1 to \(max) bytes.", field: field)
        }
        guard isShown || !found.unicodeScalars.contains(where: \.isHidden) else {
            throw Refusal(.invalid, "\(field) has no control characters and none without width.", field: field)
        }
        return found
    }

    private static func flag(_ field: String, _ sources: [String?], _ auth: JSONValue?) throws(Refusal) -> Bool? {
        let texts = sources.compactMap(\.self)
        guard texts.allSatisfy({ $0 == "true" || $0 == "false" }) else {
            throw Refusal(.invalid, "\(field) is true or false.", field: field)
        }
        guard texts.allSatisfy({ $0 == texts.first }) else { throw .givenTwice(field) }
        let found = texts.first.map { $0 == "true" }
        guard let auth else { return found }
        guard let wanted = auth.bool, found == nil || found == wanted else {
            throw Refusal(.invalid, "\(field) is true or false, and the same wherever it is given.", field: field)
        }
        return wanted
    }
}

extension Refusal {
    fileprivate static func givenTwice(_ field: String) -> Refusal {
        Refusal(.invalid, "\(field) was given twice with different values.", field: field)
    }
}

/// The grammar of room ids: `[A-Za-z0-9_.:-]{1,64}`.
package enum RoomID {
    /// Checks a room id.
    /// - Throws: ``Wire/Refusal`` with code `invalid` and field `roomId`.
    package static func parse(_ text: String) throws(Refusal) -> Identifier {
        var bytes = text
        guard bytes.withUTF8({ (1...64).contains($0.count) && $0.allSatisfy(Self.isAllowed) }) else {
            throw Refusal(.invalid, "A room id has 1 to 64 characters of A-Z a-z 0-9 _ . : -", field: "roomId")
        }
        return Identifier(text)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"),
            UInt8(ascii: "-"):
            true
        default:
            false
        }
    }
}
