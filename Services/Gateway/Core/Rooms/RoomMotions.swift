import Canvas
import Wire

/// What is being moved in a room: the latest state of each gesture under way, and where each cursor is.
///
///     preview ──► new, or folded into its motion ──► gesture ended, element changed, cursor hidden ──► forgotten
///
/// Found by what is moved as well as by who moves it: an app may end a thousand gestures at once in a room where
/// thousands are under way, and each end must cost no more than there are motions of its element.
struct RoomMotions {
    /// What a gesture shows by now.
    private struct Motion {
        /// The latest value of each field.
        var preview: Preview
        /// Everywhere that the gesture went.
        var extent: PreviewArea
    }

    /// What is moved: an element, by anybody, or a session's cursor. All cursors share a key in the place of an element's.
    private struct Subject: Hashable {
        let element: Identifier
        let sid: Identifier

        init(element: Identifier) {
            (self.element, self.sid) = (element, "")
        }

        init(_ preview: Preview) {
            (self.element, self.sid) = (preview.element, preview.isAttention ? preview.sid : "")
        }
    }

    private var motions: [LatestPreviews.Key: Motion] = [:]
    /// The keys of each subject's motions; none is empty.
    private var keys: [Subject: [LatestPreviews.Key]] = [:]
    /// Elements and connections of one room whose latest preview is kept.
    static let capacity = 4096

    /// True when nothing moves.
    var isEmpty: Bool { self.motions.isEmpty }

    /// How many there are.
    var count: Int { self.motions.count }

    /// The state of the motions that are, or were, in a part of the canvas, but are not in the one that was seen before.
    /// - Parameter viewport: nil: everything.
    func entering(_ viewport: PreviewArea?, from former: PreviewArea) -> [Preview] {
        self.motions.values.compactMap { motion in
            let isSeen = viewport.map(motion.extent.intersects) ?? true
            return isSeen && !motion.preview.area.intersects(former) ? motion.preview : nil
        }
    }

    // MARK: Steps

    /// Notes what is shown to the room's members now.
    /// - Parameter mayBegin: whether there is space for a motion that is new.
    mutating func note(_ preview: Preview, mayBegin: Bool) {
        // Everybody gets selections, wherever their elements are.
        if preview.selection != nil { return }
        let key = LatestPreviews.Key(preview)
        if preview.isHidden {
            self.remove(key, of: Subject(preview))
            return
        }
        guard let motion = self.motions[key] else {
            if mayBegin { self.begin(key, preview) }
            return
        }
        var latest = preview
        if motion.preview.gesture == preview.gesture, motion.preview.sid == preview.sid {
            latest.fields = motion.preview.fields
            latest.fields.merge(preview.fields)
        }
        self.motions[key] = Motion(preview: latest, extent: motion.extent.union(preview.area))
    }

    private mutating func begin(_ key: LatestPreviews.Key, _ preview: Preview) {
        guard self.motions.count < Self.capacity else { return }
        let subject = Subject(preview)
        var extent = preview.area
        // Its session came back over another connection: what it showed of the element before is over.
        let former = self.keys[subject]?.first { self.motions[$0]?.preview.sid == preview.sid }
        if let former, let motion = self.remove(former, of: subject) { extent = extent.union(motion.extent) }
        self.motions[key] = Motion(preview: preview, extent: extent)
        self.keys[subject, default: []].append(key)
    }

    /// Forgets the gestures whose previews must not be shown any more.
    mutating func drop(_ ended: [EndedPreviews]) {
        for end in ended { self.remove(Subject(element: end.element)) { end.includes($0) } }
    }

    /// Forgets what a user has shown of elements that it has changed.
    mutating func settle(_ elements: [Identifier], by user: Identifier) {
        for element in elements { self.remove(Subject(element: element)) { $0.user == user } }
    }

    // MARK: Removal

    private mutating func remove(_ subject: Subject, where isOver: (Preview) -> Bool) {
        guard let keys = self.keys[subject] else { return }
        var rest: [LatestPreviews.Key] = []
        for key in keys {
            if let motion = self.motions[key], !isOver(motion.preview) {
                rest.append(key)
            } else {
                self.motions[key] = nil
            }
        }
        if rest.count < keys.count { self.keys[subject] = rest.isEmpty ? nil : rest }
    }

    @discardableResult
    private mutating func remove(_ key: LatestPreviews.Key, of subject: Subject) -> Motion? {
        guard let motion = self.motions.removeValue(forKey: key) else { return nil }
        self.keys[subject]?.removeAll { $0 == key }
        if self.keys[subject]?.isEmpty == true { self.keys[subject] = nil }
        return motion
    }
}
