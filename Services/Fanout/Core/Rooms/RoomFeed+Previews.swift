internal import Timing
internal import Wire

/// Previews, and the gestures that they belong to.
extension RoomFeed {
    /// A preview came from a coalescer. It replaces one of the same element and connection that waits.
    mutating func previewReceived(
        _ preview: Preview, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        guard !self.audience.isEmpty else { return services.counters.drop(.room) }
        self.rates.previewReceived()
        var preview = self.early.remove(replacedBy: preview)
        self.pass(&preview, at: now, with: &services, into: &actions)
    }

    private mutating func pass(
        _ preview: inout Preview, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        switch self.judge(&preview, at: now, with: &services) {
        case .pass:
            services.counters.previewsPassed += 1
            self.audience.show(preview, into: &actions)
        case .wait:
            self.wait(preview, at: now, with: &services)
        case .drop(let reason):
            services.counters.drop(reason)
        }
    }

    private mutating func judge(
        _ preview: inout Preview, at now: Instant, with services: inout RoomServices
    ) -> PreviewVerdict {
        if self.audience.isSuperseded(preview) { return .drop(.superseded) }
        guard self.stream.isLive, preview.after <= self.stream.seq else { return .wait }
        return self.elements.judge(
            &preview, needsArea: self.audience.needsAreas, rules: services.rules, with: &services.document,
            at: now, limits: services.limits)
    }

    /// Shows the gestures of an update's user on its elements once more. Gateways forget what they would show to a viewport
    /// that moves there, because a gesture that outlived its session ends under the user's next one. But others of the
    /// user's devices go on: a gesture is another device's if it began while the update's session was here.
    mutating func repeatGestures(
        after update: Update, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        for element in update.entries {
            for gesture in self.elements.shownGestures(on: element.id)
            where self.audience.isElsewhere(gesture, of: update.user, than: update.sid) {
                var preview = Preview(
                    room: self.name, element: element.id, connection: gesture.connection, user: update.user,
                    sid: gesture.sid, gesture: gesture.number, fields: gesture.fields)
                self.pass(&preview, at: now, with: &services, into: &actions)
            }
        }
    }

    private mutating func wait(_ preview: Preview, at now: Instant, with services: inout RoomServices) {
        let deadline = now + services.limits.previewPatience
        let wasEmpty = self.early.isEmpty
        guard self.early.insert(preview, until: deadline) else { return services.counters.drop(.waited) }
        services.counters.previewsParked += 1
        if wasEmpty { services.deadlines.set(.early, for: self.name, at: deadline) }
    }

    /// Sends on what waited for the update that was just applied.
    mutating func releaseEarly(at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        for var preview in self.early.release(upTo: self.stream.seq) {
            self.pass(&preview, at: now, with: &services, into: &actions)
        }
    }

    mutating func dropExpiredPreviews(at now: Instant, with services: inout RoomServices) {
        services.counters.drop(.waited, self.early.expire(at: now))
        if let deadline = self.early.deadline { services.deadlines.set(.early, for: self.name, at: deadline) }
    }

    /// A gesture ended without a commit: gateways hear of it if they saw anything of it, or may have.
    mutating func gestureEndReceived(
        _ gesture: GestureEnd, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        // What was shown before the room moved here cannot be known.
        let isUncertain = self.hasMovedHere(within: services.limits.fenceAge, at: now)
        let ended = self.elements.end(gesture, isUncertain: isUncertain, at: now, limits: services.limits)
        if let ended { self.audience.broadcast(.gestureEnded(ended), into: &actions) }
    }

    /// Ends what others see of the gestures of connections: they are gone without having left, or joined again under
    /// another session, whose gestures go on.
    mutating func endGestures(
        of connections: [UInt64], but session: Identifier? = nil, at now: Instant, into actions: inout [FanoutAction]
    ) {
        var users: [UInt64: Identifier] = [:]
        for connection in connections { users[connection] = self.audience.user(of: connection) }
        if users.isEmpty { return }
        let ended = self.elements.endGestures(of: users, in: self.name, but: session, at: now)
        for gesture in ended { self.audience.broadcast(.gestureEnded(gesture), into: &actions) }
    }
}
