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
    /// What a gesture shows by now.
    private struct Motion {
        var preview: Preview
        /// Everywhere that the gesture went.
        var extent: PreviewArea
    }

    /// Where a cursor is by now.
    private struct Pointer {
        var latest: Awareness
        /// Everywhere that it went.
        var extent: PreviewArea
    }

    private var motions: [Preview.Key: Motion] = [:]
    /// The keys of each element's motions; none is empty.
    private var keys: [Identifier: [Preview.Key]] = [:]
    private var pointers: [Awareness.Key: Pointer] = [:]
    /// Elements and connections of one room whose latest preview or cursor is kept.
    static let capacity = 4096

    /// True when nothing moves.
    var isEmpty: Bool { self.motions.isEmpty && self.pointers.isEmpty }

    /// How many motions and cursors there are.
    var count: Int { self.motions.count + self.pointers.count }

    /// The state of the motions and cursors that are, or were, in a part of the canvas, but are not in the one that was seen
    /// before.
    /// - Parameter viewport: nil: everything.
    func entering(_ viewport: PreviewArea?, from former: PreviewArea) -> RoomShow {
        func isEntering(_ extent: PreviewArea, _ area: PreviewArea) -> Bool {
            (viewport.map(extent.intersects) ?? true) && !area.intersects(former)
        }
        let previews = self.motions.values.compactMap { isEntering($0.extent, $0.preview.area) ? $0.preview : nil }
        let cursors = self.pointers.values.compactMap { isEntering($0.extent, $0.latest.area) ? $0.latest : nil }
        return RoomShow(previews: previews[...], awareness: cursors[...])
    }

    // MARK: Steps

    /// Notes what is shown to the room's members now.
    /// - Parameter mayBegin: whether there is space for a motion that is new.
    mutating func note(_ preview: Preview, mayBegin: Bool) {
        let (key, preview) = (preview.key, preview.alone)
        guard let motion = self.motions[key] else {
            if mayBegin { self.begin(key, preview) }
            return
        }
        self.motions[key] = Motion(preview: preview, extent: motion.extent.union(preview.area))
    }

    private mutating func begin(_ key: Preview.Key, _ preview: Preview) {
        guard self.count < Self.capacity else { return }
        var extent = preview.area
        // Its session came back over another connection: what it showed of the element before is over.
        let former = self.keys[preview.element]?.first { self.motions[$0]?.preview.sid == preview.sid }
        if let former, let motion = self.remove(former, of: preview.element) { extent = extent.union(motion.extent) }
        self.motions[key] = Motion(preview: preview, extent: extent)
        self.keys[preview.element, default: []].append(key)
    }

    /// Notes where a cursor is shown to the room's members now. All of them get the other parts of awareness.
    /// - Parameter mayBegin: whether there is space for a cursor that is new.
    mutating func note(_ awareness: Awareness, mayBegin: Bool) {
        guard case .cursor(let cursor) = awareness.value else { return }
        let key = awareness.key
        if cursor == nil {
            self.pointers[key] = nil
        } else if let extent = self.pointers[key]?.extent {
            self.pointers[key] = Pointer(latest: awareness, extent: extent.union(awareness.area))
        } else if mayBegin, self.count < Self.capacity {
            self.pointers[key] = Pointer(latest: awareness, extent: awareness.area)
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

    // MARK: Removal

    private mutating func remove(_ element: Identifier, where isOver: (Preview) -> Bool) {
        guard let keys = self.keys[element] else { return }
        var rest: [Preview.Key] = []
        for key in keys {
            if let motion = self.motions[key], !isOver(motion.preview) {
                rest.append(key)
            } else {
                self.motions[key] = nil
            }
        }
        if rest.count < keys.count { self.keys[element] = rest.isEmpty ? nil : rest }
    }

    private mutating func remove(_ key: Preview.Key, of element: Identifier) -> Motion? {
        guard let motion = self.motions.removeValue(forKey: key) else { return nil }
        self.keys[element]?.removeAll { $0 == key }
        if self.keys[element]?.isEmpty == true { self.keys[element] = nil }
        return motion
    }
}
