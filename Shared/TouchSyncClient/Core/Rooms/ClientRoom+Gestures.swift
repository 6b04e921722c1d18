import Canvas
import JSONBytes

extension ClientRoom {
    /// Fingers touched elements. The pivot of a group is the centre of the rectangle around the elements' positions,
    /// unless the app has another one.
    mutating func gestureBegan(_ name: String, elementIds: [String], pivot: Point?, _ outbox: inout ClientOutbox) {
        let ids = elementIds.map(TextKey.init)
        let positions = ids.compactMap { self.contents.shown[$0]?.pose.position }
        self.gestures.begin(name, ids, pivot: pivot ?? Rect(around: positions).center, at: outbox.now)
        self.halt(ids, [.positionX, .positionY], &outbox)
    }

    /// A hand catches elements: those that move in these fields stop where they are seen, so that it holds what it
    /// touched.
    private mutating func halt(_ ids: [TextKey], _ fields: [ElementField], _ outbox: inout ClientOutbox) {
        guard !fields.isEmpty, let now = outbox.serverTime else { return }
        let elements = ids.compactMap { self.contents.shown[$0] }.filter { element in
            !element.locked && fields.contains { self.playing.moves(TextKey(element.id), $0, at: now) }
        }
        guard let first = elements.first else { return }
        var halted: [TextKey: TransformFields] = [:]
        for element in elements {
            let pose = self.playing.pose(of: element, at: now) ?? element.pose
            for field in fields { halted[TextKey(element.id), default: TransformFields()][field] = pose[field] }
        }
        let isGroup = elements.count > 1
        let body = JSONObject { writer in
            if isGroup {
                writer.member("elements", elements.map(\.id))
            } else {
                writer.member("elementId", first.id)
            }
            writer.member("fields", fields.map { "\($0.name)" })
            writer.member("at", now)
        }
        self.edits.edit(
            id: "halt", event: isGroup ? "elements:halt" : "element:halt", body: body, halted: halted, &self.contents,
            &outbox)
    }

    mutating func gestureMoved(_ name: String, _ fields: GestureFields, _ outbox: inout ClientOutbox) {
        guard let (ids, held) = self.gestures.move(name, fields, at: outbox.now) else { return }
        self.halt(ids, held, &outbox)
        self.contents.touch(ids)
        guard self.phase == .joined else { return }
        let preview = self.gestures.offer(name, at: outbox.now, interval: self.throttleMs)
        if let preview { self.send(preview, &outbox) }
    }

    /// The fingers were lifted: what they did is stored, or they throw what they hold.
    mutating func gestureEnded(
        _ name: String, id: String, throwing: GestureThrow? = nil, _ outbox: inout ClientOutbox
    ) {
        guard let gesture = self.gestures.lift(name) else {
            return self.tell(.result(id: id, EditAnswer(refusal: .gestureOver)), &outbox)
        }
        self.contents.touch(gesture.elementIds)
        let elements = gesture.elementIds.compactMap { self.contents.shown[$0] }
        if let body = throwing.flatMap({ gesture.thrown(elements, $0, at: outbox.now) }) {
            return self.edits.edit(id: id, event: gesture.throwEvent, body: body, &self.contents, &outbox)
        }
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
