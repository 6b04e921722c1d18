import Canvas

struct Frame: Sendable {
    /// Ms of the client's clock.
    let time: Double
    /// Ms since 1970 of the server's; nil before it is known.
    let serverTime: Double?
}

/// What moves elements of a room by itself, with the starts that it has here.
struct PlayingElements: Sendable {
    private struct Entry: Sendable {
        var stored: Pose
        var live: LiveMotion
        /// When it is over, ms since 1970 of the server's clock.
        var end: Double
        /// False once all is over. Then only the starts count: a later update may repeat them.
        var isMoving: Bool
    }

    let isOn: Bool
    private var byElement: [TextKey: Entry] = [:]
    /// When something may be over, ms.
    private(set) var deadline: Int64?

    init(isOn: Bool) {
        self.isOn = isOn
    }

    var elements: [TextKey] { self.byElement.keys.sorted { $0.text < $1.text } }

    /// Whether an element moves, as of the last time that something was over.
    func isMoving(_ id: TextKey) -> Bool { self.byElement[id]?.isMoving == true }

    /// An element is stored so now; nil: it is gone.
    /// - Parameters:
    ///   - isLive: whether that happens now; otherwise it is from a snapshot or a replay.
    ///   - isBack: whether an undo or a redo did it.
    /// - Returns: what rooms tell of it.
    mutating func update(
        _ id: TextKey, _ element: Element?, isLive: Bool, isBack: Bool, _ outbox: ClientOutbox
    ) -> RoomOutput? {
        let before = self.byElement.removeValue(forKey: id)
        let rest: RoomOutput? = before?.isMoving == true ? .still(id.text) : nil
        guard self.isOn, let element, !element.playback.isEmpty, let now = outbox.serverTime else { return rest }
        var live = before?.live ?? LiveMotion()
        live.update(to: element.playback, arrival: isLive ? now : nil, isBack: isBack)
        let end = live.playback.end(from: now)
        self.byElement[id] = Entry(stored: element.pose, live: live, end: end, isMoving: end > now)
        guard end > now else { return rest }
        self.wait(until: end, now, outbox)
        return .moving(id.text)
    }

    private mutating func wait(until end: Double, _ now: Double, _ outbox: ClientOutbox) {
        guard end < .infinity else { return }
        // Rounded before it is added: what is left may be too little to move a time.
        let left = Int64(saturating: max(0, end - now).rounded(.up))
        self.deadline = earliest(self.deadline, outbox.now.plus(left))
    }

    /// - Returns: the elements that do not move any more.
    mutating func timeReached(_ outbox: ClientOutbox) -> [TextKey] {
        guard let deadline, outbox.now >= deadline, let now = outbox.serverTime else { return [] }
        self.deadline = nil
        var still: [TextKey] = []
        for id in self.elements {
            guard let entry = self.byElement[id], entry.isMoving else { continue }
            if entry.end > now {
                self.wait(until: entry.end, now, outbox)
            } else {
                self.byElement[id]?.isMoving = false
                still.append(id)
            }
        }
        return still
    }

    /// Whether a field of an element moves at a time of the server's clock, ms since 1970.
    func moves(_ id: TextKey, _ field: ElementField, at time: Double) -> Bool {
        guard let playback = self.byElement[id]?.live.playback else { return false }
        if playback.motion[field]?.value(at: time) != nil { return true }
        return playback.animation.map { $0.tracks[field] != nil && !$0.isOver(at: time) } ?? false
    }

    /// Where an element is at a time of the server's clock, ms since 1970; nil if nothing moves it then. What this user
    /// set, and the server has not stored, shows so.
    func pose(of element: Element, at time: Double?) -> Pose? {
        guard !self.byElement.isEmpty, let time, let entry = self.byElement[TextKey(element.id)],
            time < entry.end
        else { return nil }
        let pose = element.pose
        var shown = entry.live.playback.shown(pose, at: time)
        for field in ElementField.animated where pose[field] != entry.stored[field] { shown[field] = pose[field] }
        return shown.isFinite ? shown : nil
    }
}
