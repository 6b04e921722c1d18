import FanoutCore
import Timing
import Wire

/// An update: applied to the room, kept for who comes back, sent to both gateways.
struct BroadcastUpdate: Operation {
    static let name = "broadcast-update"

    private var room = FanoutRoom()
    /// The last one is next.
    private var updates = Array(Sample.updates.reversed())

    init() {}

    mutating func turn() -> Bool {
        guard let next = self.updates.popLast() else { return false }
        self.room.now = self.room.now + .milliseconds(5)
        self.room.fanout.updateReceived(next, at: self.room.now, into: &self.room.actions)
        guard case .broadcast(.update(let update), let gateways, _) = self.room.actions.popLast() else { return false }
        return update.seq == next.seq && gateways.count == 2
    }
}

/// A preview: let through the fence of its gesture, brought under the rules, sent to both gateways.
struct JudgePreview: Operation {
    static let name = "broadcast-preview"

    private var room = FanoutRoom()
    private let previews = [Sample.preview]

    init() {}

    mutating func turn() -> Bool {
        self.room.now = self.room.now + .milliseconds(16)
        self.room.fanout.previewsReceived(self.previews, at: self.room.now, into: &self.room.actions)
        guard case .broadcast(.preview(let preview), let gateways, _) = self.room.actions.popLast() else {
            return false
        }
        return preview.after == 41 && gateways.count == 2
    }
}
