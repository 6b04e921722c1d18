import Canvas
import Wire

/// What is being moved in a room: the latest state of each gesture under way, and where each cursor is.
///
///     preview ──► new, or in place of the last one ──► gesture ended, element changed ──► forgotten
///     cursor ───► new, or in place of the last one ──► hidden ──► forgotten
///
/// Found by what is moved as well as by who moves it: an app may end a thousand gestures at once in a room where
/// thousands are under way, and each end must cost no more than there are motions of its element.
struct RoomMotions {
    /// What a gesture shows by now, or where a cursor is.
    private struct Motion<Latest> {
        var latest: Latest
        /// Everywhere that it went.
        var extent: PreviewArea
    }

    /// Those of each element, few at a time as the fan-out bounds them; no list is empty.
    private var motions: [Identifier: [Motion<Preview>]] = [:]
    private var motionCount = 0
    private var pointers: [Awareness.Key: Motion<Awareness>] = [:]
    /// Elements and connections of one room whose latest preview or cursor is kept.
    static let capacity = 4096

    /// How many motions and cursors there are.
    var count: Int { self.motionCount + self.pointers.count }

    /// The state of the motions and cursors that are, or were, in a part of the canvas, but are not in the one that was seen
    /// before.
    /// - Parameter viewport: nil: everything.
    func entering(_ viewport: PreviewArea?, from former: PreviewArea) -> RoomShow {
        func isEntering(_ extent: PreviewArea, _ area: PreviewArea) -> Bool {
            (viewport.map(extent.intersects) ?? true) && !area.intersects(former)
        }
        let previews = self.motions.values.joined().filter { isEntering($0.extent, $0.latest.area) }.map(\.latest)
        let cursors = self.pointers.values.filter { isEntering($0.extent, $0.latest.area) }.map(\.latest)
        return RoomShow(previews: previews[...], awareness: cursors[...])
    }

    // MARK: Steps

    /// Notes what is shown to the room's members now.
    /// - Parameter mayBegin: whether there is space for a motion that is new.
    mutating func note(_ preview: Preview, mayBegin: Bool) {
        var motion = Motion(latest: preview.alone, extent: preview.area)
        // A session that came back over another connection shows nothing of the element by the former one any more.
        let former = self.motions[preview.element]?.firstIndex {
            $0.latest.connection == preview.connection || $0.latest.sid == preview.sid
        }
        if let former, let extent = self.motions[preview.element]?[former].extent {
            motion.extent = motion.extent.union(extent)
            self.motions[preview.element]?[former] = motion
        } else if mayBegin, self.count < Self.capacity {
            self.motions[preview.element, default: []].append(motion)
            self.motionCount += 1
        }
    }

    /// Notes where a cursor is shown to the room's members now. All of them get the other parts of awareness.
    /// - Parameter mayBegin: whether there is space for a cursor that is new.
    mutating func note(_ awareness: Awareness, mayBegin: Bool) {
        guard case .cursor(let cursor) = awareness.value else { return }
        let key = awareness.key
        if cursor == nil {
            self.pointers[key] = nil
        } else if let extent = self.pointers[key]?.extent {
            self.pointers[key] = Motion(latest: awareness, extent: extent.union(awareness.area))
        } else if mayBegin, self.count < Self.capacity {
            self.pointers[key] = Motion(latest: awareness, extent: awareness.area)
        }
    }

    /// Forgets the gestures whose previews must not be shown any more.
    mutating func drop(_ ended: [EndedPreviews]) {
        for end in ended { self.remove(end.element) { end.includes($0) } }
    }

    /// Forgets what a user has shown of elements that it has changed.
    mutating func settle(_ elements: [Identifier], by user: Identifier) {
        for element in elements { self.remove(element) { $0.user == user } }
    }

    private mutating func remove(_ element: Identifier, where isOver: (Preview) -> Bool) {
        guard let known = self.motions[element] else { return }
        let rest = known.filter { !isOver($0.latest) }
        self.motionCount -= known.count - rest.count
        self.motions[element] = rest.isEmpty ? nil : rest
    }
}
