/// An animation by keyframes, as in Web Animations with fill `none`: it shows an element elsewhere than it is stored.
public struct KeyframeAnimation: Equatable, Sendable {
    /// A value on the way of a field.
    public struct Keyframe: Equatable, Sendable {
        /// Its place in an iteration, 0…1.
        public var at: Double
        public var value: Double
        /// How it goes to the next one.
        public var curve: Easing

        public init(at: Double, value: Double, curve: Easing = .linear) {
            self.at = at
            self.value = value
            self.curve = curve
        }
    }

    /// Which iterations run backwards.
    public enum Direction: String, CaseIterable, Sendable {
        case normal, reverse, alternate
        case alternateReverse = "alternate-reverse"
    }

    /// Whether it replaces what is beneath, or is added to it.
    public enum Composite: String, CaseIterable, Sendable {
        case replace, add
    }

    /// How long an iteration lasts.
    public var ms: Double
    /// How many there are, 1 or more, also fractions; infinity for ever.
    public var iterations = 1.0
    public var direction = Direction.normal
    /// How long after its start it takes effect, ms.
    public var delayMs = 0.0
    public var composite = Composite.replace
    /// Keyframes of each field, at least one, `at` never falling.
    public var tracks = ByField<[Keyframe]>()
    /// When it starts, ms since 1970 of the server's clock; not sent by apps.
    public var startedAt = 0.0

    /// An animation of one iteration, without keyframes.
    public init(ms: Double) {
        self.ms = ms
    }

    /// When it is over, ms since 1970; infinity if it never is.
    public var endsAt: Double { self.startedAt + self.delayMs + self.ms * self.iterations }

    /// Whether it is over at a time, ms since 1970.
    public func isOver(at time: Double) -> Bool {
        guard let elapsed = elapsedTime(since: self.startedAt, at: time) else { return true }
        return elapsed - self.delayMs >= self.ms * self.iterations
    }

    /// Between which values a field is at a time, and the share of the way between them; nil unless it has an effect.
    func interval(
        of field: ElementField, over beneath: Double, at time: Double
    ) -> (start: Double, end: Double, progress: Double)? {
        guard let place = self.place(at: time), let keyframes = self.tracks[field] else { return nil }
        // Web Animations, section "The effect value of a keyframe effect": between the last keyframe up to here and the
        // next one; a missing first or last one is what is beneath.
        if place >= 1, let last = keyframes.last, keyframes.dropLast().last?.at == 1 {
            return (self.value(of: last, over: beneath), self.value(of: last, over: beneath), 1)
        }
        let index = keyframes.lastIndex { $0.at <= place && $0.at < 1 }
        let next = index.map { $0 + 1 } ?? 0
        let start = index.map { keyframes[$0] }
        let end = next < keyframes.count ? keyframes[next] : nil
        let (startsAt, endsAt) = (start?.at ?? 0, end?.at ?? 1)
        let share = (place - startsAt) / (endsAt - startsAt)
        return (
            self.value(of: start, over: beneath), self.value(of: end, over: beneath),
            start?.curve.progress(at: share) ?? share
        )
    }

    private func value(of keyframe: Keyframe?, over beneath: Double) -> Double {
        guard let keyframe else { return beneath }
        return self.composite == .add ? beneath + keyframe.value : keyframe.value
    }

    /// The place in an iteration, 0…1, at a time; nil before it takes effect, and when it is over.
    private func place(at time: Double) -> Double? {
        guard let elapsed = elapsedTime(since: self.startedAt, at: time), elapsed >= self.delayMs else { return nil }
        let active = elapsed - self.delayMs
        guard active < self.ms * self.iterations else { return nil }
        let overall = active / self.ms
        let iteration = overall.rounded(.down)
        let place = overall - iteration
        let isOdd = iteration.truncatingRemainder(dividingBy: 2) != 0
        let isReversed =
            switch self.direction {
            case .normal: false
            case .reverse: true
            case .alternate: isOdd
            case .alternateReverse: !isOdd
            }
        return isReversed ? 1 - place : place
    }
}
