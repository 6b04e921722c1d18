/// A user's right in a room; each right includes those before it.
package enum Right: String, Sendable, CaseIterable, Comparable {
    /// Receive the room's elements and updates.
    case view
    /// Send previews.
    case preview
    /// Send commits.
    case commit

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    package static func < (left: Right, right: Right) -> Bool { left.rank < right.rank }
}

/// The rooms of a token's holder. Room ids are compared byte by byte: Swift's `String` considers the Kelvin sign equal
/// to "K".
package struct RoomRights: Sendable, Equatable {
    private var byRoom: [[UInt8]: Right] = [:]
    private var everywhere: Right?

    package init() {}

    /// Grants a right in one room, or with `*` in every room that is not named itself.
    package mutating func grant(_ right: Right, room: some Collection<UInt8>) {
        if room.elementsEqual("*".utf8) { self.everywhere = right } else { self.byRoom[Array(room)] = right }
    }

    /// The right in a room; an exact match overrides `*`. Nil: none.
    package func right(in room: some Collection<UInt8>) -> Right? {
        self.byRoom[Array(room)] ?? self.everywhere
    }

    /// The right in a room, by its id as text.
    package func right(in room: String) -> Right? { self.right(in: Array(room.utf8)) }
}
