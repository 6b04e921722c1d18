import Canvas

extension ClientRoom {
    /// Fingers touched elements.
    mutating func gestureBegan(_ name: String, elementIds: [String], pivot: Point?, _ outbox: inout ClientOutbox) {
        let ids = elementIds.map(TextKey.init)
        self.gestures.begin(name, ids, pivot: pivot, in: self.contents, at: outbox.now)
        self.halt(ids, [.positionX, .positionY], &outbox)
    }

    private mutating func halt(_ ids: [TextKey], _ fields: [ElementField], _ outbox: inout ClientOutbox) {
        let halt = self.motion.halt(ids, fields, in: self.contents, at: outbox.serverTime)
        if let halt { self.edits.edit(halt, &self.contents, &outbox) }
    }

    mutating func gestureMoved(_ name: String, _ fields: GestureFields, _ outbox: inout ClientOutbox) {
        guard let (ids, held) = self.gestures.move(name, fields, at: outbox.now) else { return }
        self.halt(ids, held, &outbox)
        self.contents.touch(ids)
        self.gestures.offer(name, interval: self.throttleMs, &outbox)
    }

    /// The fingers were lifted: what they did is stored, or they throw what they hold.
    mutating func gestureEnded(
        _ name: String, id: String, throwing: GestureThrow? = nil, _ outbox: inout ClientOutbox
    ) {
        guard let gesture = self.gestures.lift(name) else {
            return self.tell(.result(id: id, EditAnswer(refusal: .gestureOver)), &outbox)
        }
        self.contents.touch(gesture.elementIds)
        guard let edit = gesture.edit(id: id, throwing: throwing, in: self.contents, at: outbox.now) else {
            return self.tell(.result(id: id, EditAnswer(unchangedAt: self.contents.seq)), &outbox)
        }
        self.edits.edit(edit, &self.contents, &outbox)
    }
}
