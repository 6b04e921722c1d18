extension Element {
    /// What ended longer ago is left out when an element changes, ms: every screen has seen it end.
    private static let keptAfterEnd = 60_000.0

    /// What shows of a field that moves.
    /// - Parameters:
    ///   - time: ms since 1970 of the server's clock.
    ///   - adding: false leaves out an animation that adds.
    package func shown(_ field: ElementField, at time: Double, adding: Bool = true) -> Double {
        self.motion.shown(
            field, stored: self[field] ?? 0, animation: self.animation, at: time, adding: adding)
    }

    /// The pose that shows at a time, ms since 1970 of the server's clock.
    public func pose(at time: Double) -> Pose { self.motion.shown(self.pose, animation: self.animation, at: time) }

    /// The fields that a track or the animation moves at a time, or will.
    package func movingFields(at time: Double) -> [ElementField] {
        let isAnimated = self.animation?.isOver(at: time) == false
        return ElementField.animated.filter { field in
            self.motion[field]?.running(at: time) != nil || isAnimated && self.animation?.tracks[field] != nil
        }
    }

    /// Whether it has a track or an animation, perhaps one that is over.
    package var moves: Bool { !self.motion.isEmpty || self.animation != nil }

    /// Ends what moves of some fields: their tracks, and those of the animation; one without tracks is gone.
    package mutating func endTracks(of fields: some Sequence<ElementField>, adding: Bool = true) {
        let endsAnimation = adding || self.animation?.composite == .replace
        for field in fields {
            self.motion[field] = nil
            if endsAnimation { self.animation?.tracks[field] = nil }
        }
        if self.animation?.tracks.isEmpty == true { self.animation = nil }
    }

    /// Ends the tracks of the fields that a change gave another value; an animation that adds goes on.
    package mutating func endTracks(changedFrom former: Element) {
        guard self.moves else { return }
        self.endTracks(of: ElementField.animated.filter { !self.hasSame($0, as: former) }, adding: false)
    }

    /// Leaves out what ended long before a time, ms since 1970 of the server's clock.
    package mutating func leaveOutEnded(at time: Double) {
        for field in self.motion.fields where self.motion[field]?.running(at: time - Self.keptAfterEnd) == nil {
            self.motion[field] = nil
        }
        if self.animation?.isOver(at: time - Self.keptAfterEnd) == true { self.animation = nil }
    }
}
