internal import Auth
package import JSONBytes
package import Wire

/// What an app names when it connects, from its auth payload, the query or headers; the same thing given twice must
/// agree.
package struct HandshakeFields: Equatable, Sendable {
    /// The token, if one was given.
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

    /// The longest token, bytes.
    package static let maxTokenBytes = 8 * 1024
    /// The longest user id and name, bytes.
    package static let maxNameBytes = 128
    /// The longest colour, bytes, as in tokens.
    package static let maxColorBytes = 32

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
        self.token = try Self.agree("token", auth: auth, query: query, header: bearer, max: Self.maxTokenBytes)
        if let room = try Self.agree("roomId", auth: auth, query: query, header: header("x-touchsync-room"), max: 64) {
            self.room = try RoomID.parse(room)
        }
        self.user = try Self.agree(
            "userId", auth: auth, query: query, header: header("x-touchsync-user"), max: Self.maxNameBytes)
        self.name = try Self.agree(
            "name", auth: auth, query: query, header: header("x-touchsync-name"), max: Self.maxNameBytes, isShown: true
        )?.withoutHidden
        self.color = try Self.agree(
            "color", auth: auth, query: query, header: header("x-touchsync-color"), max: Self.maxColorBytes,
            isShown: true
        )?.withoutHidden
        self.options = self.options.and(
            previews: try Self.flag("previews", auth: auth, query: query, header: header("x-touchsync-previews")),
            motion: try Self.flag("motion", auth: auth, query: query, header: header("x-touchsync-motion")))
        self.batches =
            try Self.flag("batches", auth: auth, query: query, header: header("x-touchsync-batches")) ?? false
    }

    /// - Parameter isShown: whether people read it, who are spared what they cannot see. What identifies must have none.
    private static func agree(
        _ field: StaticString, auth: JSONValue?, query: (StaticString) -> String?, header: String?, max: Int,
        isShown: Bool = false
    ) throws(Refusal) -> String? {
        var found: String?
        var sources: [String?] = [query(field), header]
        if let value = auth?["\(field)"] {
            guard let text = value.string else {
                throw Refusal(.invalid, "\(field) is a string.", field: "\(field)")
            }
            sources.append(text)
        }
        for case let text? in sources {
            if let found, found != text {
                throw Refusal(.invalid, "\(field) was given twice with different values.", field: "\(field)")
            }
            found = text
        }
        guard let found else { return nil }
        guard !found.isEmpty, found.utf8.count <= max else {
            throw Refusal(.invalid, "\(field) has 1 to \(max) bytes.", field: "\(field)")
        }
        guard isShown || !found.unicodeScalars.contains(where: \.isHidden) else {
            throw Refusal(.invalid, "\(field) has no control characters and none without width.", field: "\(field)")
        }
        return found
    }

    private static func flag(
        _ field: StaticString, auth: JSONValue?, query: (StaticString) -> String?, header: String?
    ) throws(Refusal) -> Bool? {
        var found: Bool?
        for case let text? in [query(field), header] {
            guard text == "true" || text == "false" else {
                throw Refusal(.invalid, "\(field) is true or false.", field: "\(field)")
            }
            if let found, found != (text == "true") {
                throw Refusal(.invalid, "\(field) was given twice with different values.", field: "\(field)")
            }
            found = text == "true"
        }
        if let value = auth?["\(field)"] {
            guard let wanted = value.bool, found == nil || found == wanted else {
                throw Refusal(
                    .invalid, "\(field) is true or false, and the same wherever it is given.", field: "\(field)")
            }
            found = wanted
        }
        return found
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
