import JSONBytes
import NIOConcurrencyHelpers
import TouchSyncClient
import TouchSyncClientCore

extension Driver {
    /// Draws what others move, at each frame for some seconds, as an app does.
    static func watch(_ room: SyncRoom, seconds: Double) async throws -> FrameCount {
        let changes = room.changes
        let moving = NIOLockedValueBox(Set(await room.drawing().moving))
        let listening = Task {
            for await case .moving(let ids) in changes { moving.withLockedValue { $0.formUnion(ids) } }
        }
        defer { listening.cancel() }
        let (clock, frame) = (ContinuousClock(), Duration.nanoseconds(1_000_000_000 / 60))
        var (count, next) = (FrameCount(), clock.now)
        let end = next + .seconds(seconds)
        while next < end {
            let ids = moving.withLockedValue { ids in
                defer { ids.removeAll(keepingCapacity: true) }
                return Array(ids)
            }
            let drawing = await room.drawing(of: ids, at: next)
            moving.withLockedValue { $0.formUnion(drawing.moving) }
            count.frames += 1
            count.drawn += drawing.elements.count
            // Frames that were missed are not drawn later.
            next = max(next + frame, clock.now)
            try await clock.sleep(until: next)
        }
        return count
    }
}

/// How much was drawn.
struct FrameCount: JSONEncodable {
    var frames = 0
    /// Elements, in all frames together.
    var drawn = 0

    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("frames", self.frames)
        writer.member("drawn", self.drawn)
        writer.endObject()
    }
}
