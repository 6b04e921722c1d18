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
            if self.movements.isMoving(id, by: data["sid"]?.string.map(TextKey.init)) { self.endMovement(id, &outbox) }
        case "room:signaled": if let signal = MemberSignal(data) { self.tell(.signal(signal), &outbox) }
        default:
            if let output = self.people.eventReceived(event, data) { self.tell(output, &outbox) }
        }
    }

    private mutating func lostItsPlace(_ outbox: inout ClientOutbox) {
        guard self.phase == .joined else { return }
        // Until the join is answered nobody tells that a gesture has ended.
        self.endMovements(&outbox)
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
            let drawn = self.movingPose(of: id, outbox)
            self.play(id, isLive: isLive, isBack: data["cause"] != nil, &outbox)
            self.endMovement(id, from: drawn, &outbox)
        }
        self.contents.touch(own)
        self.edits.settle(&self.contents)
    }

    // MARK: Movements of others

    /// Somebody moves an element; `message` has what is common to a group.
    private mutating func previewed(_ preview: JSONObject, in message: JSONObject, _ outbox: inout ClientOutbox) {
        guard self.phase == .joined, let id = preview["elementId"]?.string,
            let element = self.contents.shown[TextKey(id)]
        else { return }
        let movement = MovementPreview(
            sid: message["sid"]?.string.map(TextKey.init), gesture: message["gesture"]?.integer,
            fields: TransformFields(lenient: preview.value), gap: message["dt"]?.double.flatMap { $0 > 0 ? $0 : nil })
        let playing = self.playing.pose(of: element, at: outbox.serverTime)
        self.movements.previewed(movement, of: element, playing: playing, at: outbox.now)
        self.tell(.moving(id), &outbox)
    }

    /// Gestures of which nothing was heard for too long are over. From where this user does not look nothing is heard
    /// but their end.
    mutating func endSilentMovements(_ outbox: inout ClientOutbox) {
        for id in self.movements.silent(at: outbox.now) {
            if self.phase == .joined, self.isOutOfView(id) {
                self.movements.goOn(id, at: outbox.now)
            } else {
                self.endMovement(id, &outbox)
            }
        }
    }

    /// Behind a join: of gestures where this user does not look the end may have been missed.
    mutating func endMovementsOutOfView(_ outbox: inout ClientOutbox) {
        for id in self.movements.underWay where self.isOutOfView(id) { self.endMovement(id, &outbox) }
    }

    /// Whether somebody moves an element where this user does not look, so that no previews come from there.
    private func isOutOfView(_ id: TextKey) -> Bool {
        guard let viewport = self.awareness.viewport, let target = self.movements.target(of: id),
            self.contents.shown[id]?.space == .canvas
        else { return false }
        return !viewport.contains(target)
    }

    /// Nothing of any gesture is shown any more.
    mutating func endMovements(_ outbox: inout ClientOutbox) {
        for id in self.movements.elements { self.endMovement(id, &outbox) }
    }

    /// Nothing of a gesture is shown any more.
    mutating func endMovement(_ id: TextKey, _ outbox: inout ClientOutbox) {
        self.endMovement(id, from: self.movingPose(of: id, outbox), &outbox)
    }

    private mutating func endMovement(_ id: TextKey, from drawn: Pose?, _ outbox: inout ClientOutbox) {
        guard self.movements.isMoving(id) else { return }
        let stored = self.composed(id).map { self.playing.pose(of: $0, at: outbox.serverTime) ?? $0.pose }
        self.movements.end(id, at: stored, from: drawn, now: outbox.now)
        self.tell(.moving(id.text), &outbox)
    }

    /// What is drawn now of an element that others move; nil of another one.
    private func movingPose(of id: TextKey, _ outbox: ClientOutbox) -> Pose? {
        guard self.movements.isMoving(id), let element = self.contents.shown[id] else { return nil }
        let playing = self.playing.pose(of: element, at: outbox.serverTime)
        return self.movements.pose(of: element, playing: playing, at: Double(outbox.now))
            ?? playing ?? element.pose
    }

    // MARK: Elements that move by themselves

    /// An element is stored otherwise.
    mutating func play(_ id: TextKey, isLive: Bool, isBack: Bool = false, _ outbox: inout ClientOutbox) {
        let output = self.playing.update(id, self.contents.confirmed[id], isLive: isLive, isBack: isBack, outbox)
        if let output { self.tell(output, &outbox) }
    }

    /// All elements are others.
    mutating func playSnapshot(_ outbox: inout ClientOutbox) {
        let former = self.playing.elements
        let playing = self.contents.confirmed.all.filter { !$0.playback.isEmpty }.map { TextKey($0.id) }
        let others = Set(playing).subtracting(former)
        for id in former + others.sorted(by: { $0.text < $1.text }) { self.play(id, isLive: false, &outbox) }
    }

    /// Tells the app which elements have come to rest.
    mutating func endPlaying(_ outbox: inout ClientOutbox) {
        for id in self.playing.timeReached(outbox) { self.tell(.still(id.text), &outbox) }
    }
}
