package import Timing
package import Wire

/// What operators ask about rooms. A list of them is a ``RoomSurvey``.
extension Fanout {
    /// One room as it is now; nil when it is not in memory.
    package func report(on room: Identifier, at now: Instant) -> RoomReport? {
        self.rooms.slot(of: room).flatMap { self.rooms[$0].report(at: now) }
    }
}

extension Room {
    /// What a list shows of the room; nil for one that is being loaded, or is none.
    func figures(at now: Instant) -> RoomFigures? {
        guard self.isLive else { return nil }
        let rates = self.feed.rates.perSecond(at: now)
        return RoomFigures(
            room: self.name, members: self.feed.audience.occupancy.userCount,
            connections: self.feed.audience.occupancy.connectionCount, seq: self.feed.stream.seq,
            elements: self.feed.elements.count, bytes: self.bytes,
            updatesPerSecond: rates.updates, previewsPerSecond: rates.previews)
    }

    fileprivate func report(at now: Instant) -> RoomReport? {
        guard let figures = self.figures(at: now) else { return nil }
        return RoomReport(
            figures: figures, people: self.feed.audience.occupancy.people(RoomReport.listedPeople),
            updates: self.feed.stream.latest(RoomReport.listedUpdates))
    }
}
