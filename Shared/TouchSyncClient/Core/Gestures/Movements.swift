import Canvas

/// A preview of somebody else's gesture.
struct MovementPreview: Sendable {
    /// Whose gesture, and which one of that session.
    let sid: TextKey?
    let gesture: Int64?
    let fields: TransformFields
    /// The time since the previous one, ms; nil if it is the first.
    let gap: Double?
}

/// The gestures of others in a room, and the ways from them to where the elements are stored.
struct Movements: Sendable {
    private struct Movement: Sendable {
        var motion: RemoteMotion
        /// When the way ends that the latest update began, ms.
        var restsAt = -Double.infinity
        var sid: TextKey?
        var gesture: Int64?
        var fields = TransformFields()

        /// Of one gesture what an earlier preview said still holds where a later one says nothing.
        mutating func heard(_ preview: MovementPreview, isUnderWay: Bool) {
            let isSame = isUnderWay && self.sid == preview.sid && self.gesture == preview.gesture
            if !isSame { self.fields = TransformFields() }
            self.fields.merge(preview.fields)
            (self.sid, self.gesture) = (preview.sid, preview.gesture)
        }

        /// Where it has the element. Fields that it does not list play on.
        func aim(_ element: Element, _ playing: Pose?) -> Pose {
            var pose = element.showing(self.fields).pose
            guard let playing else { return pose }
            for field in ElementField.animated where self.fields[field] == nil { pose[field] = playing[field] }
            return pose
        }

        /// Begins a way. `gap` is the time since the previous preview, ms.
        mutating func move(to pose: Pose, at now: Int64, gap: Double? = nil, from drawn: Pose?) {
            guard self.motion.receive(pose, at: Double(now), gap: gap, from: drawn) else { return }
            self.restsAt = Double(now) + self.motion.pace.interval
        }
    }

    private var byElement: [TextKey: Movement] = [:]
    private var silence = SilenceQueue()

    /// When a gesture has been silent for so long that it is over, ms.
    var deadline: Int64? { self.silence.deadline }

    /// Whether an element moves, or has moved and was not drawn since.
    func isMoving(_ id: TextKey) -> Bool { self.byElement[id] != nil }

    /// The elements that move, or have moved and were not drawn since.
    var elements: [TextKey] { self.byElement.keys.sorted { $0.text < $1.text } }

    /// The elements on which gestures are under way.
    var underWay: [TextKey] { self.elements.filter { self.silence.isHeard($0) } }

    /// Where an element is on its way to.
    func target(of id: TextKey) -> Point? { self.byElement[id]?.motion.target.position }

    /// Somebody moves an element, which is shown as it is without that.
    /// - Parameter playing: where it moves by itself, if it does.
    mutating func previewed(_ preview: MovementPreview, of element: Element, playing: Pose?, at now: Int64) {
        let id = TextKey(element.id)
        if self.byElement[id] == nil {
            guard let motion = RemoteMotion(from: element.pose) else { return }
            self.byElement[id] = Movement(motion: motion)
        }
        let drawn = self.pose(of: element, playing: playing, at: Double(now))
        self.byElement[id]?.heard(preview, isUnderWay: self.silence.isHeard(id))
        self.silence.heard(id, at: now)
        guard let aim = self.byElement[id]?.aim(element, playing) else { return }
        self.byElement[id]?.move(to: aim, at: now, gap: preview.gap, from: drawn)
    }

    /// Whether an element moves by a gesture of that session.
    func isMoving(_ id: TextKey, by sid: TextKey?) -> Bool {
        self.byElement[id].map { $0.sid == sid } ?? false
    }

    /// Nothing of a gesture is shown any more: the element moves to where it is stored, or moves by itself; nil: it is
    /// gone.
    mutating func end(_ id: TextKey, at stored: Pose?, from drawn: Pose?, now: Int64) {
        self.silence.forget(id)
        if let stored {
            self.byElement[id]?.move(to: stored, at: now, from: drawn)
        } else {
            self.byElement[id] = nil
        }
    }

    /// The elements whose gestures have been silent for too long.
    func silent(at now: Int64) -> [TextKey] { self.silence.overdue(at: now) }

    /// The gesture on an element is not over although it is silent.
    mutating func goOn(_ id: TextKey, at now: Int64) { self.silence.heard(id, at: now) }

    /// Where an element is on its way at a time, ms; nil if nobody moves it.
    /// - Parameter playing: where it moves by itself, if it does.
    func pose(of element: Element, playing: Pose?, at time: Double) -> Pose? {
        let id = TextKey(element.id)
        guard let movement = self.byElement[id] else { return nil }
        let isUnderWay = self.silence.isHeard(id)
        guard isUnderWay || time < movement.restsAt else { return nil }
        let aim = isUnderWay ? movement.aim(element, playing) : playing ?? element.pose
        return movement.motion.pose(at: time, towards: aim)
    }

    /// The same at the time of a frame: what is over is forgotten.
    mutating func drawn(_ element: Element, playing: Pose?, at time: Double) -> Pose? {
        let pose = self.pose(of: element, playing: playing, at: time)
        if pose == nil { self.byElement[TextKey(element.id)] = nil }
        return pose
    }
}
