import Wire

/// When previews are delivered: at once while all is well, else at their room's pace and in turns.
///
///     previewed ──► nothing waits, full pace ─────────────────────────► delivered
///              └──► waits, folded ──► the room's pace allows, its turn ──► delivered
///                        └──► the gesture ends ──► dropped
///
/// What a turn may deliver is bounded, so that nothing else waits long for the previews of many rooms: not the commits
/// of apps, nor their results. A room is delivered whole.
extension Gateway {
    /// A turn of the event loop begins.
    package mutating func turnBegan() {
        self.allowance = self.limits.previewWrites
    }

    /// Time has come to `now` (ms): what is due is delivered as far as this turn goes, and paces are reviewed.
    package mutating func deliver(at now: UInt64) {
        while self.allowance > 0, let first = self.waiting.firstDue(at: now) {
            let due = self.paces.due(first.room, at: now)
            if due > now {
                self.waiting.move(first.room, to: due)
            } else {
                // Of whole milliseconds, half a one is the mean of what they do not show.
                self.show(first.room, lateness: (now - first.since) * 1000 + 500, at: now)
            }
        }
        while let first = self.unsent.firstDue(at: now) {
            self.sendOn(first.room)
            self.paces.sent(first.room, at: now)
        }
        self.reviewPaces(at: now)
    }

    /// When ``deliver(at:)`` is due, ms; nil when no preview waits and no room is slowed down.
    package mutating func nextDelivery() -> UInt64? {
        if !self.holdsPreviews { return self.paces.nextReview }
        return [self.waiting.nextDue(), self.unsent.nextDue(), self.paces.nextReview].compactMap { $0 }.min()
    }

    /// True when previews wait in either direction.
    var holdsPreviews: Bool { !self.waiting.isEmpty || !self.unsent.isEmpty }

    /// Drops the waiting previews of a room that must not be shown any more.
    mutating func drop(_ ended: [EndedPreviews], in room: Identifier) {
        self.waiting.drop(ended, in: room)
        self.unsent.drop(ended, in: room)
    }

    // MARK: From members

    /// Keeps a member's preview while its room's pace does not allow it: it would wait for the same at the other end,
    /// after it has cost three hops.
    mutating func waits(_ preview: Preview, at now: UInt64) -> Bool {
        let due = self.paces.sendingDue(preview.room, at: now)
        // The fan-out will not bring it back at this pace.
        if due == .max { self.noteOffered(CollectionOfOne(preview), of: preview.room) }
        guard due > now || self.unsent.contains(preview.room) else {
            self.paces.sent(preview.room, at: now)
            return false
        }
        self.unsent.hold(CollectionOfOne(preview), of: preview.room, until: due)
        return true
    }

    /// Sends on what waits of a room's members.
    mutating func sendOn(_ room: Identifier) {
        for preview in self.unsent.take(room) { self.forward(preview) }
    }

    // MARK: To members

    /// Previews of one room came from the fan-out.
    mutating func show(
        _ previews: ArraySlice<Preview>, of room: Identifier, to view: RoomView, lateness: UInt64, at now: UInt64
    ) {
        if !self.paces.isIdle { self.noteOffered(previews, of: room) }
        if !self.waiting.isEmpty || !self.paces.isIdle || self.allowance <= 0 {
            let due = self.paces.due(room, at: now)
            let hasTurn = self.allowance > 0 && self.waiting.firstDue(at: now) == nil
            if due > now || !hasTurn || self.waiting.contains(room) {
                self.waiting.hold(previews, of: room, until: due)
                return
            }
        }
        self.deliver(previews, of: room, to: view.previewMembers, lateness: lateness, at: now)
    }

    /// Delivers what waits of a room, whatever its pace.
    mutating func show(_ room: Identifier, lateness: UInt64, at now: UInt64) {
        let previews = self.waiting.take(room)
        guard !previews.isEmpty, let view = self.rooms[room], !view.previewMembers.isEmpty else { return }
        self.deliver(previews[...], of: room, to: view.previewMembers, lateness: lateness, at: now)
    }

    private mutating func deliver(
        _ previews: ArraySlice<Preview>, of room: Identifier, to members: [Slot], lateness: UInt64, at now: UInt64
    ) {
        let texts = previews.map { PreviewText(sender: self.slots[$0.connection], preview: $0) }
        self.actions.append(.previews(members, texts))
        self.allowance -= members.count
        self.paces.departed(room, deliveries: members.count * texts.count, lateness: lateness, at: now)
    }

    /// A room without members is forgotten, and what waits of it.
    mutating func forgetIfEmpty(_ room: Identifier) {
        guard self.rooms[room]?.isEmpty == true else { return }
        self.rooms[room] = nil
        _ = self.waiting.take(room)
        self.sendOn(room)
        self.paces.forget(room)
    }

    // MARK: Paces

    /// What apps of a room are told to send previews at, ms.
    func throttle(in room: Identifier) -> UInt64 {
        self.paces.pace(of: room).told(usual: UInt64(self.limits.throttleMs))
    }

    private mutating func noteOffered(_ previews: some Sequence<Preview>, of room: Identifier) {
        let members = self.rooms[room]?.previewMembers.count ?? 0
        for preview in previews { self.paces.arrived(room, folded: preview.folded, members: members) }
    }

    /// Slows rooms down or lets them go, as the last window says, and tells their apps.
    mutating func reviewPaces(at now: UInt64) {
        for room in self.paces.review(at: now) {
            self.waiting.move(room, to: self.paces.due(room, at: now))
            self.unsent.move(room, to: self.paces.sendingDue(room, at: now))
            guard let members = self.rooms[room]?.members, !members.isEmpty else { continue }
            let json = EventText.throttle(self.throttle(in: room), room: room)
            self.actions.append(.broadcast(members, json: json, step: nil))
        }
    }
}
