import Canvas
import JSONBytes

extension ClientRoom {
    mutating func eventReceived(_ event: String, _ data: JSONObject, _ outbox: inout ClientOutbox) {
        if let seq = data["seq"]?.integer, RoomUpdate(rawValue: event) != nil {
            if self.phase == .joined { self.updated(event, data, seq: seq, &outbox) }
            return
        }
        switch event {
        case "room:elements": self.partArrived(data, &outbox)
        case "room:resync": self.lostItsPlace(&outbox)
        case "transform:error": if data["code"]?.string == "session_expired" { self.lostItsPlace(&outbox) }
        case "room:throttle": self.throttleMs = data["intervalMs"]?.milliseconds ?? self.throttleMs
        case "element:transforming": self.previewed(data, in: data, &outbox)
        case "elements:transforming":
            for preview in data["elements"]?.objects ?? [] { self.previewed(JSONObject(preview), in: data, &outbox) }
        case "gesture:ended":
            guard let id = data["elementId"]?.string.map(TextKey.init) else { return }
            let isMoved = self.motion.movements.isMoving(id, by: data["sid"]?.string.map(TextKey.init))
            if isMoved { self.endMovements([id], &outbox) }
        case "room:signaled": if let signal = MemberSignal(data) { self.tell(.signal(signal), &outbox) }
        default:
            if let output = self.people.eventReceived(event, data) { self.tell(output, &outbox) }
        }
    }

    private mutating func lostItsPlace(_ outbox: inout ClientOutbox) {
        guard self.phase == .joined else { return }
        // Until the join is answered nobody tells that a gesture has ended.
        self.endMovements(self.motion.movements.elements, &outbox)
        self.join(&outbox)
    }

    /// Applies a change, in the order of the room's numbers only.
    private mutating func updated(
        _ event: String, _ data: JSONObject, seq: Int64, _ outbox: inout ClientOutbox
    ) {
        guard seq > self.contents.seq else { return }
        if seq == self.contents.seq.plus(1) {
            self.apply(event, data, seq: seq, isLive: true, &outbox)
        } else {
            // A gap: what is missing comes with another join.
            self.join(&outbox)
        }
    }

    /// Applies the change that follows the last one.
    /// - Parameter isLive: whether it happens now; otherwise it was missed.
    mutating func apply(
        _ event: String, _ data: JSONObject, seq: Int64, isLive: Bool, _ outbox: inout ClientOutbox
    ) {
        let own = self.edits.streamed(data)
        if let userId = data["userId"]?.string, userId == self.people.own?.userId {
            self.edits.reach.applied(cause: data["cause"]?.string)
        }
        let ids = self.contents.apply(event, data, seq: seq)
        self.contents.touch(ids)
        for id in ids {
            let drawn = self.motion.movingPose(of: id, in: self.contents, outbox)
            let stored = self.contents.confirmed[id]
            self.motion.play(id, stored, isLive: isLive, isBack: data["cause"] != nil, &outbox)
            self.endMovement(id, from: drawn, &outbox)
        }
        self.contents.touch(own)
        self.edits.settle(&self.contents)
    }

    // MARK: Movements of others

    private mutating func previewed(_ preview: JSONObject, in message: JSONObject, _ outbox: inout ClientOutbox) {
        guard self.phase == .joined, let id = preview["elementId"]?.string,
            let element = self.contents.shown[TextKey(id)]
        else { return }
        self.motion.previewed(preview, in: message, of: element, &outbox)
    }

    mutating func endSilentMovements(_ outbox: inout ClientOutbox) {
        let viewport = self.phase == .joined ? self.awareness.viewport : nil
        let silent = self.motion.silent(in: self.contents, outside: viewport, at: outbox.now)
        self.endMovements(silent, &outbox)
    }

    /// Nothing of the gestures on some elements is shown any more.
    mutating func endMovements(_ ids: [TextKey], _ outbox: inout ClientOutbox) {
        for id in ids { self.endMovement(id, from: self.motion.movingPose(of: id, in: self.contents, outbox), &outbox) }
    }

    private mutating func endMovement(_ id: TextKey, from drawn: Pose?, _ outbox: inout ClientOutbox) {
        guard self.motion.movements.isMoving(id) else { return }
        self.motion.end(id, at: self.composed(id), from: drawn, &outbox)
    }
}
