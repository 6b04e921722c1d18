/// What a user may do in a room; each right includes those before it.
package enum Right: String, Sendable, CaseIterable, Comparable {
    /// See the room's elements and what happens to them.
    case view
    /// Show others what one is doing, without lasting effect.
    case preview
    /// Change the room.
    case commit

    private var rank: Int {
        switch self {
        case .view: 0
        case .preview: 1
        case .commit: 2
        }
    }

    package static func < (left: Right, right: Right) -> Bool { left.rank < right.rank }
}

/// The rooms of a token's holder. Room ids are compared byte by byte: to Swift's `String` the Kelvin sign equals "K".
package struct RoomRights: Sendable, Equatable {
    private var byRoom: [[UInt8]: Right] = [:]
    private var everywhere: Right?

    /// No right anywhere.
    package init() {}

    /// The same right in every room.
    package init(everywhere right: Right) {
        self.everywhere = right
    }

    /// Gives a right in one room, or with `*` in every room that is not named itself.
    package mutating func grant(_ right: Right, room: some Collection<UInt8>) {
        if room.elementsEqual("*".utf8) { self.everywhere = right } else { self.byRoom[Array(room)] = right }
    }

    /// The right in a room; a room named exactly wins over `*`. Nil: none.
    package func right(in room: some Collection<UInt8>) -> Right? {
        self.byRoom[Array(room)] ?? self.everywhere
    }

    /// The right in a room, by text.
    package func right(in room: String) -> Right? { self.right(in: Array(room.utf8)) }

    /// True when nothing is granted.
    package var isEmpty: Bool { self.byRoom.isEmpty && self.everywhere == nil }
}
