import Canvas
import JSONBytes

/// The gestures and the attention of this user.
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
        self.send(OwnPreview(gesture: gesture, fields: still), &outbox)
    }

    /// Previews that waited until now, or are repeated.
    mutating func sendDuePreviews(_ outbox: inout ClientOutbox) {
        guard self.phase == .joined else { return }
        for preview in self.gestures.due(at: outbox.now, interval: self.throttleMs) { self.send(preview, &outbox) }
    }

    private func send(_ preview: OwnPreview, _ outbox: inout ClientOutbox) {
        self.send(preview.gesture.event(isCommit: false), &outbox) { writer in
            preview.gesture.encodeMembers(preview.fields, into: &writer)
        }
    }

    // MARK: Attention

    mutating func pointed(_ point: Point?, _ outbox: inout ClientOutbox) {
        self.attention.cursor = point
        self.offerCursor(&outbox)
    }

    mutating func selected(_ elementIds: [String], _ outbox: inout ClientOutbox) {
        self.attention.selection = elementIds
        self.sendSelection(&outbox)
    }

    mutating func looked(_ viewport: Rect?, _ outbox: inout ClientOutbox) {
        self.attention.viewport = viewport
        self.offerViewport(&outbox)
    }

    /// Cursor, selection and viewport, behind a join.
    mutating func sendAttention(_ outbox: inout ClientOutbox) {
        if self.attention.hasCursorToTell { self.offerCursor(&outbox) }
        if self.attention.selection != nil { self.sendSelection(&outbox) }
        if self.attention.hasViewportToTell { self.offerViewport(&outbox) }
    }

    /// A cursor and a viewport that waited until now.
    mutating func sendDueAttention(_ outbox: inout ClientOutbox) {
        let (now, interval) = (outbox.now, self.throttleMs)
        if self.attention.cursorPace.due(at: now, interval: interval) { self.sendCursor(&outbox) }
        if self.attention.viewportPace.due(at: now, interval: interval) { self.sendViewport(&outbox) }
    }

    /// The answer to a viewport. Refused for now, the latest one is sent later.
    mutating func viewportAnswered(_ answer: JSONObject, _ outbox: ClientOutbox) {
        guard let retryAfter = EditAnswer(answer).error?.retryAfter else { return }
        self.attention.viewportPace.refused(at: outbox.now, retryAfter: retryAfter)
    }

    private mutating func offerCursor(_ outbox: inout ClientOutbox) {
        guard self.phase == .joined else { return }
        if self.attention.cursorPace.offer(at: outbox.now, interval: self.throttleMs) { self.sendCursor(&outbox) }
    }

    private mutating func offerViewport(_ outbox: inout ClientOutbox) {
        guard self.phase == .joined else { return }
        if self.attention.viewportPace.offer(at: outbox.now, interval: self.throttleMs) { self.sendViewport(&outbox) }
    }

    private func sendCursor(_ outbox: inout ClientOutbox) {
        self.send("cursor:moving", &outbox) { writer in
            writer.member("x", self.attention.cursor?.x)
            writer.member("y", self.attention.cursor?.y)
        }
    }

    private func sendSelection(_ outbox: inout ClientOutbox) {
        guard self.phase == .joined else { return }
        self.address.ask("selection:set", about: .nothing, &outbox) { writer in
            writer.member("elementIds", self.attention.selection ?? [])
        }
    }

    private func sendViewport(_ outbox: inout ClientOutbox) {
        guard self.phase == .joined else { return }
        self.address.ask("viewport:set", about: .viewport(room: self.address.serial), &outbox) { writer in
            guard let viewport = self.attention.viewport else { return }
            writer.member("x", viewport.origin.x)
            writer.member("y", viewport.origin.y)
            writer.member("width", viewport.size.width)
            writer.member("height", viewport.size.height)
        }
    }
}
