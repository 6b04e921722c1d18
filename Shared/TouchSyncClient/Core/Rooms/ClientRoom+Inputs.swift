extension ClientRoom {
    /// What the app wants in this room.
    mutating func perform(_ input: RoomInput, _ outbox: inout ClientOutbox) {
        switch input {
        case .join: self.joinedAgain(&outbox)
        case .leave: (self.isLeaving, self.givesUp) = (true, true)
        case .deliver: self.isLeaving = true
        case .edit(let id, let event, let body):
            self.edits.edit(id: id, event: event, body: body, &self.contents, &outbox)
        case .historyRead(let after, let page): self.edits.historyRead(after: after, page, &self.contents, &outbox)
        case .gestureBegan(let name, let ids, let pivot): self.gestureBegan(name, elementIds: ids, pivot: pivot)
        case .gestureMoved(let name, let fields): self.gestureMoved(name, fields, &outbox)
        case .gestureEnded(let name, let id): self.gestureEnded(name, id: id, &outbox)
        case .gestureCancelled(let name): self.gestureCancelled(name, &outbox)
        case .pointed(let point): self.attention.pointed(point, interval: self.throttleMs, &outbox)
        case .selected(let ids): self.attention.selected(ids, &outbox)
        case .looked(let viewport): self.attention.looked(viewport, interval: self.throttleMs, &outbox)
        }
    }
}
