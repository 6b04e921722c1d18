import DequeModule
import Timing
import Wire

/// The previews that one member gets of those of a room's tick.
package struct Sighting: Equatable, Sendable {
    /// The member.
    package let slot: Slot
    /// The indices of its previews, in order.
    package let indices: [Int]
}

/// Which members of rooms see a part of the canvas only, and what was shown in these rooms lately.
///
///     viewport set ──► the room is followed: previews come with their areas, the latest of each key is kept
///                           └──no viewport left, no member──► forgotten
///
///     viewport moved ──► the member sees that part, and is shown what moves there ──► it rests
///          └──while the member rests──► waits, the last one wins ──► the rest is over ──┘
///
/// A preview's area contains where its element was before: so a member sees an element leave. The latest previews are
/// kept because a viewport may move over an element that is being moved.
///
/// All that moves in a room may come into view by one small message of an app. So a member rests after each of its
/// viewports that was compared with what moves, and a turn compares and shows a bounded number of previews. Until the
/// next viewport is shown the one before holds, and what is delivered is chosen by it: nothing is missed in between, and
/// nothing comes twice.
struct RoomViewports {
    /// A viewport that an app has set; nil: everything.
    private struct Choice {
        let viewport: PreviewArea?
    }

    /// A member's pause.
    private struct Rest {
        let end: Instant
        /// What the member sees when it is over, if its app has set that meanwhile; then it has a viewport now.
        var next: Choice?
    }

    /// Whose rest ends when.
    private struct Waking {
        let slot: Slot
        let room: Identifier
        let end: Instant
    }

    private struct Room {
        /// Margins included.
        var viewports: [Slot: PreviewArea] = [:]
        var rests: [Slot: Rest] = [:]
        var motions = RoomMotions()
    }

    /// What a member must be shown because it sees another part of the canvas.
    struct Entrance {
        let slot: Slot
        let room: Identifier
        let shown: RoomShow
    }

    private var rooms: [Identifier: Room] = [:]
    /// How many motions the rooms have.
    private(set) var motionCount = 0
    /// So many are kept in all, some 50 MB: of those that begin beyond it, a member whose viewport moves over one sees the
    /// next preview only.
    static let maxMotions = 65_536
    /// In the order in which they end. One that is not the rest of its member any more, which has left, is stale.
    private var wakings = Deque<Waking>()
    /// How many more previews this turn may show because of viewports, see ``comparedForOne``; the last viewport may go
    /// beyond.
    private var allowance = RoomMotions.capacity
    /// So many that are compared cost as much as one that is shown.
    private static let comparedForOne = 16
    /// Previews that were not sent to a member because it could not see them.
    private(set) var hiddenTotal: UInt64 = 0

    /// How long a member rests.
    static let pause = Nanoseconds.milliseconds(50)

    /// True when the areas of a room's previews are needed. It remains so while the room has members: an app that sets
    /// and removes its viewport by turns causes no work elsewhere.
    func contains(_ room: Identifier) -> Bool { !self.rooms.isEmpty && self.rooms[room] != nil }

    // MARK: Viewports

    /// A member sees this part of a room's canvas from now on, or from the end of its rest; nil: everything.
    /// - Returns: what it must be shown now: the state of gestures that were, or are, in the new part while it did not
    ///   see them.
    mutating func set(_ viewport: PreviewArea?, for slot: Slot, in room: Identifier, at now: Instant) -> RoomShow {
        guard viewport != nil || self.contains(room) else { return RoomShow() }
        guard let former = self.rooms[room]?.viewports[slot] else {
            // It has seen everything.
            self.rooms[room, default: Room()].viewports[slot] = viewport
            return RoomShow()
        }
        if let rest = self.rooms[room]?.rests[slot], rest.next != nil || now < rest.end {
            self.rooms[room]?.rests[slot]?.next = Choice(viewport: viewport)
            return RoomShow()
        }
        guard self.allowance > 0 else {
            self.rest(slot, room, next: Choice(viewport: viewport), at: now)
            return RoomShow()
        }
        return self.move(slot, in: room, from: former, to: viewport, at: now)
    }

    /// Moves a member's viewport. When nothing moves there is nothing to show, and nothing to rest from.
    private mutating func move(
        _ slot: Slot, in room: Identifier, from former: PreviewArea, to viewport: PreviewArea?, at now: Instant
    ) -> RoomShow {
        self.rooms[room]?.viewports[slot] = viewport
        guard let motions = self.rooms[room]?.motions, motions.count > 0 else { return RoomShow() }
        self.rest(slot, room, next: nil, at: now)
        let entering = motions.entering(viewport, from: former)
        // A viewport over nothing is compared with all that moves elsewhere.
        self.allowance -= max(
            entering.previews.count + entering.awareness.count, 1 + motions.count / Self.comparedForOne)
        return entering
    }

    private mutating func rest(_ slot: Slot, _ room: Identifier, next: Choice?, at now: Instant) {
        let end = now + Self.pause
        self.rooms[room]?.rests[slot] = Rest(end: end, next: next)
        self.wakings.append(Waking(slot: slot, room: room, end: end))
    }

    /// A turn of the event loop begins: what viewports may show in it is reset.
    mutating func turnBegan() { self.allowance = RoomMotions.capacity }

    /// When the next rest is over; nil when no member rests.
    var nextDeadline: Instant? { self.wakings.first?.end }

    /// Moves the next viewport that has waited and may be shown in this turn.
    mutating func nextEntrance(at now: Instant) -> Entrance? {
        while self.allowance > 0, let waking = self.wakings.first, waking.end <= now {
            self.wakings.removeFirst()
            let (slot, room) = (waking.slot, waking.room)
            guard let rest = self.rooms[room]?.rests[slot], rest.end == waking.end else { continue }
            self.rooms[room]?.rests[slot] = nil
            guard let next = rest.next, let former = self.rooms[room]?.viewports[slot] else { continue }
            let entering = self.move(slot, in: room, from: former, to: next.viewport, at: now)
            return Entrance(slot: slot, room: room, shown: entering)
        }
        return nil
    }

    /// A connection is in a room no more.
    mutating func leave(_ slot: Slot, _ room: Identifier) {
        guard self.contains(room) else { return }
        self.rooms[room]?.viewports[slot] = nil
        self.rooms[room]?.rests[slot] = nil
    }

    /// Forgets a room without members and viewports.
    mutating func forgetIfUnseen(_ room: Identifier) {
        guard self.contains(room), self.rooms[room]?.viewports.isEmpty == true else { return }
        self.reset(room)
        self.rooms[room] = nil
    }

    // MARK: Previews

    /// Notes what is shown to a room's members now.
    mutating func note(_ shown: RoomShow, of room: Identifier) {
        let others = self.motionCount - (self.rooms[room]?.motions.count ?? 0)
        self.change(room) { motions in
            for preview in shown.previews { motions.note(preview, mayBegin: others + motions.count < Self.maxMotions) }
            for awareness in shown.awareness {
                motions.note(awareness, mayBegin: others + motions.count < Self.maxMotions)
            }
        }
    }

    private mutating func change(_ room: Identifier, _ change: (inout RoomMotions) -> Void) {
        guard let index = self.rooms.index(forKey: room) else { return }
        let count = self.rooms.values[index].motions.count
        change(&self.rooms.values[index].motions)
        self.motionCount += self.rooms.values[index].motions.count - count
    }

    /// The members without a viewport, and what the others get of a tick's previews.
    mutating func split(_ members: [Slot], of room: Identifier, _ texts: [PreviewText]) -> ([Slot], [Sighting]) {
        guard let viewports = self.rooms[room]?.viewports, !viewports.isEmpty else { return (members, []) }
        let areas = texts.map(\.area)
        let senders = texts.map(\.sender)
        var unbounded: [Slot] = []
        var sightings: [Sighting] = []
        for slot in members {
            guard let viewport = viewports[slot] else {
                unbounded.append(slot)
                continue
            }
            var indices: [Int] = []
            for index in areas.indices where senders[index] != slot {
                if areas[index].intersects(viewport) {
                    indices.append(index)
                } else {
                    self.hiddenTotal += 1
                }
            }
            if !indices.isEmpty { sightings.append(Sighting(slot: slot, indices: indices)) }
        }
        return (unbounded, sightings)
    }

    /// Forgets the gestures whose previews must not be shown any more.
    mutating func drop(_ ended: [EndedPreviews], in room: Identifier) {
        if self.contains(room) { self.change(room) { $0.drop(ended) } }
    }

    /// Forgets what a user has shown of elements that it has changed, under whatever session: a gesture that outlived its
    /// session ends under the next one. The fan-out shows again what goes on under others.
    mutating func settle(_ elements: [Identifier], by user: Identifier, in room: Identifier) {
        if self.contains(room) { self.change(room) { $0.settle(elements, by: user) } }
    }

    /// Forgets the gestures of a room whose members start again.
    mutating func reset(_ room: Identifier) {
        if self.contains(room) { self.change(room) { $0 = RoomMotions() } }
    }
}
