import Canvas

/// A preview of somebody else's gesture.
struct MovementPreview: Sendable {
    /// Whose gesture, and which one of that session.
    let sid: TextKey?
    let gesture: Int64?
    /// What it sets.
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
        mutating func show(_ preview: MovementPreview, of element: Element, isUnderWay: Bool, at now: Int64) {
            let isSame = isUnderWay && self.sid == preview.sid && self.gesture == preview.gesture
            if !isSame { self.fields = TransformFields() }
            self.fields.merge(preview.fields)
            (self.sid, self.gesture) = (preview.sid, preview.gesture)
            self.move(to: element.showing(self.fields).pose, at: now, gap: preview.gap)
        }

        /// Begins a way. `gap` is the time since the previous preview, ms.
        mutating func move(to pose: Pose, at now: Int64, gap: Double? = nil) {
            guard self.motion.receive(pose, at: Double(now), gap: gap) else { return }
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
    mutating func previewed(_ preview: MovementPreview, of element: Element, at now: Int64) {
        let id = TextKey(element.id)
        if self.byElement[id] == nil {
            guard let motion = RemoteMotion(from: element.pose) else { return }
            self.byElement[id] = Movement(motion: motion)
        }
        self.byElement[id]?.show(preview, of: element, isUnderWay: self.silence.isHeard(id), at: now)
        self.silence.heard(id, at: now)
    }

    /// Whether an element moves by a gesture of that session.
    func isMoving(_ id: TextKey, by sid: TextKey?) -> Bool {
        self.byElement[id].map { $0.sid == sid } ?? false
    }

    /// Nothing of a gesture is shown any more: the element moves to where it is stored; nil: it is gone.
    /// - Returns: whether it moved.
    mutating func end(_ id: TextKey, at stored: Element?, now: Int64) -> Bool {
        guard self.byElement[id] != nil else { return false }
        self.silence.forget(id)
        if let stored {
            self.byElement[id]?.move(to: stored.pose, at: now)
        } else {
            self.byElement[id] = nil
        }
        return true
    }

    /// The elements whose gestures have been silent for too long.
    func silent(at now: Int64) -> [TextKey] { self.silence.overdue(at: now) }

    /// The gesture on an element is not over although it is silent.
    mutating func goOn(_ id: TextKey, at now: Int64) { self.silence.heard(id, at: now) }

    /// An element where it is on its way, at the time of a frame, ms.
    mutating func drawn(_ element: Element, at time: Double) -> Element {
        let id = TextKey(element.id)
        guard let movement = self.byElement[id] else { return element }
        if !self.silence.isHeard(id), time >= movement.restsAt {
            self.byElement[id] = nil
            return element
        }
        var drawn = element
        drawn.pose = movement.motion.pose(at: time)
        return drawn
    }
}
