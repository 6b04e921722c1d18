import Canvas
import JSONBytes

/// The gestures of this user.
extension ClientRoom {
    /// Fingers touched elements. The pivot of a group is the centre of the rectangle around the elements' positions,
    /// unless the app has another one.
    mutating func gestureBegan(_ name: String, elementIds: [String], pivot: Point?) {
        let ids = elementIds.map(TextKey.init)
        let positions = ids.compactMap { self.contents.shown[$0]?.pose.position }
        self.gestures.begin(name, ids, pivot: pivot ?? Rect(around: positions).center)
    }

    mutating func gestureMoved(_ name: String, _ fields: GestureFields, _ outbox: inout ClientOutbox) {
        guard let ids = self.gestures.move(name, fields) else { return }
        self.contents.touch(ids)
        guard self.phase == .joined else { return }
        let preview = self.gestures.offer(name, at: outbox.now, interval: self.throttleMs)
        if let preview { self.send(preview, &outbox) }
    }

    /// The fingers were lifted: what they did is stored.
    mutating func gestureEnded(_ name: String, id: String, _ outbox: inout ClientOutbox) {
        guard let gesture = self.gestures.lift(name) else {
            return self.tell(.result(id: id, EditAnswer(refusal: .gestureOver)), &outbox)
        }
        self.contents.touch(gesture.elementIds)
        if gesture.fields.isEmpty {
            // The fingers did not move: there is nothing to store.
            return self.tell(.result(id: id, EditAnswer(unchangedAt: self.contents.seq)), &outbox)
        }
        let body = JSONObject { gesture.encodeMembers(gesture.fields, into: &$0) }
        self.edits.edit(id: id, event: gesture.event(isCommit: true), body: body, &self.contents, &outbox)
    }

    /// Nothing is to change: others see the element where it is stored.
    mutating func gestureCancelled(_ name: String, _ outbox: inout ClientOutbox) {
        guard let gesture = self.gestures.lift(name) else { return }
        self.contents.touch(gesture.elementIds)
        guard gesture.sentAt != nil else { return }
        var still = GestureFields()
        (still.translation, still.scale, still.rotation) = (.zero, Point(x: 1, y: 1), 0)
        if gesture.fields.tilt != nil { still.tilt = .zero }
        self.send(OwnPreview(gesture: gesture, fields: still), &outbox)
    }

    /// Previews that waited until now, or are repeated.
    mutating func sendDuePreviews(_ outbox: inout ClientOutbox) {
        guard self.phase == .joined else { return }
        for preview in self.gestures.due(at: outbox.now, interval: self.throttleMs) { self.send(preview, &outbox) }
    }

    private func send(_ preview: OwnPreview, _ outbox: inout ClientOutbox) {
        guard self.phase == .joined else { return }
        self.address.send(preview.gesture.event(isCommit: false), &outbox) { writer in
            preview.gesture.encodeMembers(preview.fields, into: &writer)
        }
    }
}
