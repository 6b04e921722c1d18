import TouchSyncClientCore

/// What the app wants of the client, in the order in which it said so.
final class Inbox: Sendable {
    struct Item: Sendable {
        let input: ClientInput
        /// Who waits for the result, if it is an edit.
        var edit: (id: String, result: Promise<EditResult>)?
    }

    private struct State: Sendable {
        var items: [Item] = []
        var lastEdit = 0
        var elementNames = ElementNames()
    }

    private let state = Locked(State())
    /// Edits that an earlier run of the app left have other names.
    private let runName = uniqueName()

    /// Appends a wish. True when it is the first one that waits.
    func append(_ item: Item) -> Bool {
        self.state.withLock { state in
            state.items.append(item)
            return state.items.count == 1
        }
    }

    func takeAll() -> [Item] {
        self.state.withLock { state in
            defer { state.items = [] }
            return state.items
        }
    }

    /// The ids of rooms that the app wants to enter.
    var joinedRooms: [String] {
        self.state.withLock { state in
            state.items.compactMap { if case .room(let room, .join) = $0.input { room } else { nil } }
        }
    }

    /// A name that no other edit or gesture has.
    func nextName() -> String {
        let number = self.state.withLock { state in
            state.lastEdit += 1
            return state.lastEdit
        }
        return "\(self.runName)-\(number)"
    }

    /// An id that no other element has.
    func nextElementID() -> String {
        let now = ElementNames.timeOfDay
        return self.state.withLock { $0.elementNames.next(at: now) }
    }
}

/// A name that nobody else uses: 32 hexadecimal digits.
func uniqueName() -> String {
    (0..<2).map { _ in
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
}
