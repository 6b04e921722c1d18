/// How the eye gets to where an element is stored: a track for each field that moves. It is data and a function of
/// time: nothing has to be sent while it plays.
public struct Motion: Equatable, Sendable {
    public var tracks = ByField<Track>()

    public init() {}

    public var isEmpty: Bool { self.tracks.isEmpty }

    /// The fields that have a track, in the order of the table.
    public var fields: [ElementField] { self.tracks.fields }

    /// The track of a field.
    public subscript(field: ElementField) -> Track? {
        get { self.tracks[field] }
        set { self.tracks[field] = newValue }
    }
}

extension Motion {
    /// What shows of a field: the stored value; while its track runs the track's; then the animation's, instead or
    /// added. Angles lie in [0, 360).
    /// - Parameters:
    ///   - time: ms since 1970 of the server's clock.
    ///   - adding: false leaves out an animation that adds.
    package func shown(
        _ field: ElementField, stored: Double, animation: KeyframeAnimation?, at time: Double, adding: Bool = true
    ) -> Double {
        var value = stored
        if let (segment, elapsed) = self[field]?.running(at: time) {
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
    package func shown(_ stored: Pose, animation: KeyframeAnimation?, at time: Double) -> Pose {
        var pose = stored
        for field in ElementField.animated
        where self[field] != nil || animation?.tracks[field] != nil {
            pose[field] = self.shown(field, stored: stored[field], animation: animation, at: time)
        }
        return pose
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
