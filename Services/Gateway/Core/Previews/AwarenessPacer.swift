import DequeModule
import Timing
import Wire

/// When awareness leaves for the fan-out: of each part of a connection in a room at once, but not sooner than an interval
/// after the last one. The newest waits till then.
///
///     awareness ──► the last one left long ago ──► leaves ──► its lane is closed for an interval
///          └──► the lane is closed ──► waits, the latest ──► the interval is over ──► leaves
struct AwarenessPacer {
    /// The time from one to the next.
    static let interval = Nanoseconds.milliseconds(16)

    private struct Lane {
        var sentAt: Instant
        var waiting: Awareness?
    }

    /// Closed lanes: those that sent something in the last interval.
    private var lanes: [Awareness.Key: Lane] = [:]
    /// Which lane is looked at when, in order.
    private var looks: Deque<(key: Awareness.Key, at: Instant)> = []
    private var waitingCount = 0

    /// When ``nextDue(at:intervals:)`` has something, perhaps; nil while nothing waits.
    var nextDeadline: Instant? { self.waitingCount > 0 ? self.looks.first?.at : nil }

    /// A connection shows something else.
    /// - Returns: false when it waits.
    mutating func send(_ awareness: Awareness, at now: Instant) -> Bool {
        self.openLanes(at: now)
        let key = awareness.key
        guard let lane = self.lanes[key] else {
            self.close(key, at: now)
            return true
        }
        if lane.waiting != nil {
            self.lanes[key]?.waiting?.replace(by: awareness)
        } else {
            self.lanes[key]?.waiting = awareness
            self.waitingCount += 1
        }
        return false
    }

    /// Removes and returns the next that may leave: that of rooms that are slowed down by their interval.
    mutating func nextDue(at now: Instant, intervals: FlushIntervals) -> Awareness? {
        while let look = self.looks.first, look.at <= now {
            self.looks.removeFirst()
            guard let waiting = self.lanes[look.key]?.waiting, let sentAt = self.lanes[look.key]?.sentAt else {
                self.open(look.key, at: now)
                continue
            }
            if now < sentAt + intervals[waiting.room].requested(usual: Self.interval) {
                self.looks.append((look.key, now + Self.interval))
                continue
            }
            self.waitingCount -= 1
            self.close(look.key, at: now)
            return waiting
        }
        return nil
    }

    /// What a connection shows in a room is hidden by its end.
    mutating func remove(_ connection: UInt64, in room: Identifier, sid: Identifier) {
        if self.lanes.isEmpty { return }
        for part in AwarenessPart.allCases {
            let key = Awareness.Key(room: room, connection: connection, part: part, sid: sid)
            if self.lanes.removeValue(forKey: key)?.waiting != nil { self.waitingCount -= 1 }
        }
    }

    private mutating func close(_ key: Awareness.Key, at now: Instant) {
        self.lanes[key] = Lane(sentAt: now)
        self.looks.append((key, now + Self.interval))
    }

    /// Opens the lanes at the front whose interval is over and in which nothing waits.
    private mutating func openLanes(at now: Instant) {
        while let look = self.looks.first, look.at <= now, self.lanes[look.key]?.waiting == nil {
            self.looks.removeFirst()
            self.open(look.key, at: now)
        }
    }

    /// Opens a lane, unless it was closed again since it was to be looked at.
    private mutating func open(_ key: Awareness.Key, at now: Instant) {
        if let lane = self.lanes[key], lane.sentAt + Self.interval <= now { self.lanes[key] = nil }
    }
}
