import DequeModule
import GatewayCore
import Wire

/// Large rooms of which parts wait for one app, in the order in which it joined them.
struct SnapshotQueue {
    enum Step {
        case part([UInt8])
        /// The app was sent all of a room.
        case sent(Identifier)
    }

    private struct Entry {
        let room: Identifier
        var parts: Slice<SnapshotParts>
    }

    private var entries: Deque<Entry> = []

    /// Bytes of the rooms: each is kept whole until its last part is sent.
    private(set) var bytes = 0

    var isEmpty: Bool { self.entries.isEmpty }

    /// Adds a room; what is left of an earlier snapshot of it is dropped.
    mutating func append(_ snapshot: Snapshot) {
        self.drop(snapshot.room)
        self.bytes += snapshot.parts.bytes
        self.entries.append(Entry(room: snapshot.room, parts: snapshot.parts[...]))
    }

    mutating func drop(_ room: Identifier) {
        for entry in self.entries where entry.room == room { self.bytes -= entry.parts.base.bytes }
        self.entries.removeAll { $0.room == room }
    }

    func next() -> Step? {
        guard let entry = self.entries.first else { return nil }
        return entry.parts.first.map { .part($0) } ?? .sent(entry.room)
    }

    mutating func removeNext() {
        guard !self.entries.isEmpty else { return }
        if self.entries[0].parts.popFirst() == nil { self.bytes -= self.entries.removeFirst().parts.base.bytes }
    }
}
