import Canvas
import GatewayCore
import Timing
import Wire

/// An app's preview: scanned, judged, stamped with its gesture, handed on.
struct TakePreview: Operation {
    static let name = "take-preview"

    private var room: GatewayRoom

    init() throws {
        self.room = try GatewayRoom(members: 10)
    }

    mutating func turn() -> Bool {
        self.room.now = self.room.now + .milliseconds(16)
        self.room.receive(Sample.previewEvent, ackID: nil, from: self.room.slots[0])
        defer { self.room.actions.removeAll(keepingCapacity: true) }
        guard case .preview(_, let preview) = self.room.actions.first else { return false }
        return preview.gesture > 0 && preview.fields.positionX == 812
    }
}

/// An app's commit: scanned, judged, accepted in flight and handed on; then its result, acknowledged.
struct TakeCommit: Operation {
    static let name = "take-commit"

    private var room: GatewayRoom
    private var seq: UInt64 = 41
    /// The committer computes it, so it does not count here; the gateway compares it for numbers of its apps only.
    private let bodyHash = Sample.commit.edit.bodyHash

    init() throws {
        self.room = try GatewayRoom(members: 10)
    }

    mutating func turn() -> Bool {
        self.room.now = self.room.now + .milliseconds(40)
        self.room.receive(Sample.commitEvent, ackID: 5, from: self.room.slots[0])
        guard case .commit(_, let commit) = self.room.actions.popLast() else { return false }
        self.seq += 1
        let result = CommitResult(
            room: commit.room, session: commit.session, number: commit.number, connection: commit.connection,
            refusal: nil, seq: self.seq, json: Sample.acknowledgement, bodyHash: self.bodyHash)
        self.room.gateway.resultReceived(result, at: self.room.now, into: &self.room.actions)
        guard case .acknowledge(_, 5, let json) = self.room.actions.popLast() else { return false }
        return json.count == Sample.acknowledgement.count && self.room.gateway.commits.inFlight.count == 0
    }
}
