import Timing
import Wire

/// Rooms of which a fan-out was asked what is missing in their streams, until it has answered.
///
/// A question may be lost on its way: a link that is full drops records. Without an answer nothing more of the room would
/// be delivered, so it is asked again.
struct RoomQuestions {
    /// When each is due again; `.never` for one that was asked since the last look.
    private var dueAt: [Identifier: Instant] = [:]
    private var nextLook = Instant.start

    /// Longer than a fan-out waits for the database: another question makes it begin again.
    static let patience = Nanoseconds.seconds(6)
    private static let pause = Nanoseconds.seconds(1)

    var isEmpty: Bool { self.dueAt.isEmpty }

    /// Asks the fan-out of a room for what is missing in its stream, and says who is there.
    mutating func ask(
        for room: Identifier, _ streams: RoomStreams, _ connections: Connections, hasViewports: Bool,
        into actions: inout [GatewayAction]
    ) {
        guard let position = streams.position(of: room) else { return }
        self.dueAt[room] = .never
        // Of a user's connections the newest comes last: a fan-out that knows none of them shows the user by its name.
        let occupants = connections.occupants(streams.members(of: room), of: room)
            .sorted { $0.connection < $1.connection }
        let interest = RoomInterest(
            room: room, position: position, occupants: occupants, hasViewports: hasViewports)
        actions.append(.fanout(of: room, .interest(interest)))
    }

    /// Time has passed.
    /// - Parameter isOpen: whether a room still waits for the answer.
    /// - Returns: the rooms of which a fan-out must be asked again.
    mutating func timeReached(_ now: Instant, where isOpen: (Identifier) -> Bool) -> [Identifier] {
        guard !self.dueAt.isEmpty, now >= self.nextLook else { return [] }
        self.nextLook = now + Self.pause
        var overdue: [Identifier] = []
        for (room, due) in self.dueAt {
            if !isOpen(room) {
                self.dueAt[room] = nil
            } else if due == .never {
                self.dueAt[room] = now + Self.patience
            } else if now >= due {
                overdue.append(room)
            }
        }
        return overdue.sorted()
    }
}
