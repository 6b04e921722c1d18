import Canvas
import GatewayCore
import Wire

/// An app's preview: scanned, judged, stamped with its gesture, handed on.
struct TakePreview: Operation {
    static let name = "take-preview"

    private var room: GatewayRoom

    init() throws {
        self.room = try GatewayRoom(members: 10)
    }

    mutating func turn() -> Bool {
        self.room.now += 16
        self.room.receive(Sample.previewEvent, ackID: nil, from: self.room.slots[0])
        defer { self.room.gateway.actions.removeAll(keepingCapacity: true) }
        guard case .preview(_, let preview) = self.room.gateway.actions.first else { return false }
        return preview.gesture > 0 && preview.fields.positionX == 812
    }
}

/// An app's commit: scanned, judged, taken into custody and handed on; then its result, acknowledged.
struct TakeCommit: Operation {
    static let name = "take-commit"

    private var room: GatewayRoom
    private var seq: UInt64 = 41

    init() throws {
        self.room = try GatewayRoom(members: 10)
    }

    mutating func turn() -> Bool {
        self.room.now += 40
        self.room.receive(Sample.commitEvent, ackID: 5, from: self.room.slots[0])
        guard case .commit(_, _, let commit) = self.room.gateway.actions.popLast() else { return false }
        self.seq += 1
        self.room.gateway.resulted(
            CommitResult(
                room: commit.room, session: commit.session, number: commit.number, connection: commit.connection,
                refusal: nil, seq: self.seq, json: Sample.acknowledgement), at: self.room.now)
        guard case .acknowledge(_, 5, let json) = self.room.gateway.actions.popLast() else { return false }
        return json.count == Sample.acknowledgement.count && self.room.gateway.custodyCount == 0
    }
}
