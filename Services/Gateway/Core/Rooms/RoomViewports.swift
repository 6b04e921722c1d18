import Canvas
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
/// A preview's area contains where its element was before: so a member sees an element leave. The latest previews are
/// kept because a viewport may move over an element that is being moved.
struct RoomViewports {
    /// What a gesture shows by now.
    fileprivate struct Motion {
        /// The latest value of each field.
        var preview: Preview
        /// Everywhere that the gesture went.
        var extent: PreviewArea
    }

    fileprivate struct Room {
        /// Margins included.
        var viewports: [Slot: PreviewArea] = [:]
        var motions: [LatestPreviews.Key: Motion] = [:]
    }

    private var rooms: [Identifier: Room] = [:]
    /// Previews that were not sent to a member because it could not see them.
    private(set) var hiddenTotal: UInt64 = 0
    /// Elements and connections of one room whose latest preview is kept.
    fileprivate static let capacity = 4096

    /// True when the areas of a room's previews are needed. It remains so while the room has members: an app that sets
    /// and removes its viewport by turns causes no work elsewhere.
    func contains(_ room: Identifier) -> Bool { !self.rooms.isEmpty && self.rooms[room] != nil }

    // MARK: Viewports

    /// A member sees this part of a room's canvas from now on; nil: everything.
    /// - Returns: what it must be shown now: the state of gestures that were, or are, in the new part while it did not
    ///   see them.
    mutating func set(_ viewport: PreviewArea?, for slot: Slot, in name: Identifier) -> [Preview] {
        guard viewport != nil || self.contains(name) else { return [] }
        var room = self.rooms.removeValue(forKey: name) ?? Room()
        defer { self.rooms[name] = room }
        let former = room.viewports[slot]
        room.viewports[slot] = viewport
        guard let former else { return [] }
        return room.motions.values.compactMap { motion in
            let isSeen = viewport.map(motion.extent.intersects) ?? true
            return isSeen && !motion.preview.area.intersects(former) ? motion.preview : nil
        }
    }

    /// A connection is in a room no more.
    mutating func leave(_ slot: Slot, _ room: Identifier) {
        if self.contains(room) { self.rooms[room]?.viewports[slot] = nil }
    }

    /// Forgets a room without members and viewports.
    mutating func forgetIfUnseen(_ room: Identifier) {
        if self.contains(room), self.rooms[room]?.viewports.isEmpty == true { self.rooms[room] = nil }
    }

    // MARK: Previews

    /// Notes what is shown to a room's members now.
    mutating func note(_ previews: ArraySlice<Preview>, of room: Identifier) {
        for preview in previews { self.rooms[room]?.note(preview) }
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
        guard self.contains(room), self.rooms[room]?.motions.isEmpty == false else { return }
        let byElement = Dictionary(ended.map { ($0.element, $0) }) { first, _ in first }
        guard !byElement.isEmpty else { return }
        let motions = self.rooms[room]?.motions.filter { byElement[$1.preview.element]?.includes($1.preview) != true }
        self.rooms[room]?.motions = motions ?? [:]
    }

    /// Forgets what a user has shown of elements that it has changed, under whatever session: a gesture that outlived its
    /// session ends under the next one. The fan-out shows again what goes on under others.
    mutating func settle(_ elements: [UpdatedElement], by user: Identifier, in room: Identifier) {
        guard self.contains(room), self.rooms[room]?.motions.isEmpty == false else { return }
        let changed = Set(elements.map(\.id))
        let motions = self.rooms[room]?.motions.filter {
            $1.preview.user != user || !changed.contains($1.preview.element)
        }
        self.rooms[room]?.motions = motions ?? [:]
    }

    /// Forgets the gestures of a room whose members start again.
    mutating func reset(_ room: Identifier) {
        if self.contains(room) { self.rooms[room]?.motions = [:] }
    }
}

extension RoomViewports.Room {
    fileprivate mutating func note(_ preview: Preview) {
        // Everybody gets selections, wherever their elements are.
        if preview.selection != nil { return }
        let key = LatestPreviews.Key(preview)
        if preview.isHidden {
            self.motions[key] = nil
            return
        }
        guard let motion = self.motions[key] else {
            guard self.motions.count < RoomViewports.capacity else { return }
            var extent = preview.area
            // Its session came back over another connection: what it showed of the element before is over.
            let former = self.motions.first {
                $1.preview.element == preview.element && $1.preview.sid == preview.sid
                    && $1.preview.isAttention == preview.isAttention
            }
            if let former {
                self.motions[former.key] = nil
                extent = extent.union(former.value.extent)
            }
            self.motions[key] = RoomViewports.Motion(preview: preview, extent: extent)
            return
        }
        var latest = preview
        if motion.preview.gesture == preview.gesture, motion.preview.sid == preview.sid {
            latest.fields = motion.preview.fields
            latest.fields.merge(preview.fields)
        }
        self.motions[key] = RoomViewports.Motion(preview: latest, extent: motion.extent.union(preview.area))
    }
}
