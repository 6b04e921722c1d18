/// What shows an element elsewhere than where it is stored: its motion, and its animation on top.
public struct Playback: Equatable, Sendable {
    public var motion: Motion
    public var animation: KeyframeAnimation?

    public init(_ motion: Motion = Motion(), _ animation: KeyframeAnimation? = nil) {
        self.motion = motion
        self.animation = animation
    }

    /// What ended longer ago is left out when an element changes, ms: every screen has seen it end.
    private static let keptAfterEnd = 60_000.0

    /// Whether there is neither a track nor an animation; one that is over counts.
    package var isEmpty: Bool { self.motion.isEmpty && self.animation == nil }

    /// What shows of a field: the stored value; while its track runs the track's; then the animation's, instead or
    /// added. Angles lie in [0, 360).
    /// - Parameters:
    ///   - time: ms since 1970 of the server's clock.
    ///   - adding: false leaves out an animation that adds.
    package func shown(_ field: ElementField, stored: Double, at time: Double, adding: Bool = true) -> Double {
        var value = stored
        if let (segment, elapsed) = self.motion[field]?.running(at: time) {
            value = field.kept(segment.value(after: elapsed), between: segment.from, segment.to)
        }
        if let animation, adding || animation.composite == .replace,
            let (start, end, progress) = animation.interval(of: field, over: value, at: time)
        {
            value = field.kept(interpolated(from: start, to: end, fraction: progress), between: start, end)
        }
        if field == .opacity { value = clamped(value, 0, 1) }
        return field.isAngle ? Angle.normalized(value) : value
    }

    /// What shows of a stored pose.
    package func shown(_ stored: Pose, at time: Double) -> Pose {
        var pose = stored
        for field in ElementField.animated where self.hasTrack(of: field) {
            pose[field] = self.shown(field, stored: stored[field], at: time)
        }
        return pose
    }

    /// Whether the motion or the animation, perhaps one that is over, has a track of a field.
    package func hasTrack(of field: ElementField) -> Bool {
        self.motion[field] != nil || self.animation?.tracks[field] != nil
    }

    /// The fields that a track or the animation moves at a time, or will.
    package func fields(at time: Double) -> [ElementField] {
        let isAnimated = self.animation?.isOver(at: time) == false
        return ElementField.animated.filter { field in
            self.motion[field]?.running(at: time) != nil || isAnimated && self.animation?.tracks[field] != nil
        }
    }

    /// When all is over that moves at a time, or will, ms since 1970; infinity: never. Minus infinity if nothing does.
    package func end(from time: Double) -> Double {
        let tracks = self.motion.tracks.entries.filter { $0.value.running(at: time) != nil }
        let end = tracks.map(\.value.endsAt).max() ?? -.infinity
        guard let animation = self.animation, !animation.isOver(at: time) else { return end }
        return max(end, animation.endsAt)
    }

    /// Ends what moves of some fields: their tracks, and those of the animation; one without tracks is gone.
    package mutating func endTracks(of fields: some Sequence<ElementField>, adding: Bool = true) {
        let endsAnimation = adding || self.animation?.composite == .replace
        for field in fields {
            self.motion[field] = nil
            if endsAnimation { self.animation?.tracks[field] = nil }
        }
        if self.animation?.tracks.isEmpty == true { self.animation = nil }
    }

    /// Leaves out what ended long before a time, ms since 1970 of the server's clock.
    package mutating func leaveOutEnded(at time: Double) {
        for field in self.motion.fields where self.motion[field]?.running(at: time - Self.keptAfterEnd) == nil {
            self.motion[field] = nil
        }
        if self.animation?.isOver(at: time - Self.keptAfterEnd) == true { self.animation = nil }
    }
}

extension Element {
    /// What shows of a field that moves.
    /// - Parameters:
    ///   - time: ms since 1970 of the server's clock.
    ///   - adding: false leaves out an animation that adds.
    package func shown(_ field: ElementField, at time: Double, adding: Bool = true) -> Double {
        self.playback.shown(field, stored: self[field] ?? 0, at: time, adding: adding)
    }

    /// The pose that shows at a time, ms since 1970 of the server's clock.
    public func pose(at time: Double) -> Pose { self.playback.shown(self.pose, at: time) }

    /// Ends the tracks of the fields that a change gave another value; an animation that adds goes on.
    package mutating func endTracks(changedFrom former: Element) {
        guard !self.playback.isEmpty else { return }
        let changed = ElementField.animated.filter { !$0.isSame(in: self, former) }
        self.playback.endTracks(of: changed, adding: false)
    }
}

extension ElementField {
    /// A value on the way between two others: a scale between two of one sign stays on their side, 0.001 from 0. A
    /// flip passes through 0.
    fileprivate func kept(_ value: Double, between start: Double, _ end: Double) -> Double {
        guard self == .scaleX || self == .scaleY else { return value }
        if start > 0, end > 0 { return max(value, 0.001) }
        return start < 0 && end < 0 ? min(value, -0.001) : value
    }
}
