import GatewayCore
import SocketIOServer
import Timing
import Wire

/// An update for a room of 100 members of one gateway: its event and its frame, made once for all.
struct DeliverUpdate: Operation {
    static let name = "deliver-update-to-100"

    private var room: GatewayRoom
    /// The last one is next.
    private var updates = Array(Sample.updates.reversed())

    init() throws {
        self.room = try GatewayRoom(members: 100)
    }

    mutating func turn() -> Bool {
        guard let next = self.updates.popLast() else { return false }
        self.room.gateway.relay.updateReceived(next, into: &self.room.actions)
        guard case .broadcast(let slots, let json, _) = self.room.actions.popLast() else { return false }
        return slots.count == 100 && PreparedPacket(event: json).byteCount > Sample.noteText.count
    }
}

/// A tick of a room of 100 members of one gateway, five of whom move something: who gets what, each preview's event and
/// frame, and the buffer that all share who move nothing.
struct DeliverPreviews: Operation {
    static let name = "deliver-5-previews-to-100"
    private static let publishers = 5

    private var room: GatewayRoom
    private let previews: [Preview]

    init() throws {
        self.room = try GatewayRoom(members: 100)
        self.previews = (0..<Self.publishers).map { number in
            var preview = Sample.preview
            preview.element = Sample.varied(preview.element, number)
            preview.user = Sample.varied(preview.user, number)
            preview.sid = Sample.varied(preview.sid, number)
            preview.connection = 0x2_0000_0001 + UInt64(number)
            return preview
        }
    }

    mutating func turn() -> Bool {
        self.room.gateway.relay.rooms.turnBegan()
        self.room.gateway.relay.previewsReceived(
            self.previews, at: self.room.now, lateness: .zero, into: &self.room.actions)
        guard case .previews(let slots, let texts) = self.room.actions.popLast() else { return false }
        let all = PreparedPacket.concatenating(texts.map { PreparedPacket(event: $0.json) })
        return slots.count == 100 && texts[4].sender == 4 && all.packetCount == Self.publishers
    }
}
