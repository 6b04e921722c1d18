internal import Canvas
internal import JSONBytes
internal import Timing
internal import Wire

/// An open gesture of which others have seen something.
struct ShownGesture: Sendable {
    /// The connection that its last preview came from, and its session.
    let connection: UInt64
    let sid: Identifier
    /// Its number in the session.
    let number: UInt64
    /// When it was first shown.
    let beganAt: Instant
    /// What it shows.
    let fields: TransformFields
}

/// Where previews can be seen.
extension ElementStore {
    /// Adds to a preview where it can be seen: the box around the element as apps show it by now and as they showed it
    /// before, so that those who see only that see it go.
    /// - Parameters:
    ///   - stored: the element.
    ///   - index: its index.
    ///   - fence: the index of the publisher's session among its fences.
    mutating func locate(
        _ preview: inout Preview, of stored: Element, at index: Int, _ fence: Int, with document: inout JSONDocument
    ) {
        let parent = self.parent(of: stored, with: &document)
        guard stored.space == .canvas || parent != nil else {
            preview.area = .everywhere
            return
        }
        var before = stored.area(showing: TransformFields(), on: parent)
        if case .shown(_, let area, preview.gesture) = self[index].fences[fence].motion {
            before = area
        } else if self[index].fences[fence].isOpen, self[index].fences[fence].shown == preview.gesture {
            // A viewport was set in the middle of the gesture: where it was shown until then is not known.
            before = .everywhere
        }
        let area = stored.area(showing: preview.fields, on: parent)
        self[index].fences[fence].motion = .shown(preview.fields, area, of: preview.gesture)
        preview.area = area.union(before)
    }

    /// What others see of an element's open gestures, of each session, as far as that is known.
    func shownGestures(on element: Identifier) -> [ShownGesture] {
        guard let index = self.index(of: element) else { return [] }
        return self[index].fences.all.compactMap { fence in
            guard fence.isOpen, case .shown(let fields, _, fence.shown) = fence.motion else { return nil }
            return ShownGesture(
                connection: fence.connection, sid: fence.sid, number: fence.shown, beganAt: fence.beganAt,
                fields: fields)
        }
    }

    /// The stored parent of an annotation; nil for other elements.
    mutating func parent(of element: Element, with document: inout JSONDocument) -> Element? {
        guard let parent = element.parentId, let index = self.index(of: Identifier(parent)) else { return nil }
        return self.element(at: index, with: &document)
    }
}

extension Element {
    /// The box around it on the canvas while a gesture shows some fields; everywhere if it flies meanwhile, as time takes it
    /// elsewhere. How it turns and grows by itself is within the margin of viewports.
    /// - Parameter parent: that of an annotation, which lies in its parent's space.
    fileprivate func area(showing fields: TransformFields, on parent: Element?) -> PreviewArea {
        if self.mayFly(beside: fields) || parent?.mayFly(beside: TransformFields()) == true { return .everywhere }
        let element = self.showing(fields)
        return PreviewArea(parent.map { element.boundingBox(on: $0) } ?? element.boundingBox())
    }

    /// Whether a motion or an animation, perhaps one that is over, has a track of a position that a gesture does not show.
    private func mayFly(beside fields: TransformFields) -> Bool {
        let playback = self.playback
        return [ElementField.positionX, .positionY].contains { fields[$0] == nil && playback.hasTrack(of: $0) }
    }
}
