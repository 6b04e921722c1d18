extension RulesTable {
    /// Lets the eye follow a change: each field that was sent, or has another value, gets a track to its new value,
    /// unless nothing would move as far as can be seen.
    /// - Parameters:
    ///   - element: after the change, with the tracks that it ended already gone.
    ///   - former: the element before it.
    ///   - sent: the fields that the commit names.
    ///   - time: ms since 1970 of the server's clock: when the tracks start.
    /// - Returns: the velocities that are lower than sent.
    public func begin(
        _ request: MotionRequest, of element: inout Element, from former: Element, sent: TransformFields,
        at time: Double
    ) -> [Adjustment] {
        var adjustments: [Adjustment] = []
        let start = self.start(request.from, of: former)
        for field in ElementField.animated where sent[field] != nil || !field.isSame(in: element, former) {
            guard let stored = element[field] else { continue }
            let from = start[field] ?? former.shown(field, at: time, adding: false)
            let to = field.isAngle ? from + request.turn.degrees(from: from, to: stored) : stored
            let unit = field.motionUnit(in: element.space)
            // A hand that let go has its own speed, or none.
            let interrupted = start[field] == nil ? former.motion[field]?.velocity(at: time) ?? 0 : 0
            let segment: Segment?
            switch request.kind {
            case .eased(let ms, let easing):
                let isStill = (to - from).magnitude < field.stillness * unit
                segment = isStill ? nil : Segment(from: from, to: to, ms: ms, curve: .easing(easing))
            case .spring(let response, let damping, let velocities):
                let velocity =
                    velocities[field].map {
                        field.clampedVelocity($0, "motion.spring.velocity.\(field.name)", unit, &adjustments)
                    } ?? interrupted
                let spring = Spring(response: response, damping: damping, velocity: velocity)
                segment = Segment(from: from, to: to, settling: spring, epsilon: field.stillness * unit)
            }
            guard let segment else { continue }
            element.playback.endTracks(of: CollectionOfOne(field), adding: false)
            element.motion[field] = Track(startedAt: time, segments: [segment])
        }
        return adjustments
    }

    private func start(_ from: ByField<Double>, of element: Element) -> TransformFields {
        if from.isEmpty { return TransformFields() }
        let fields = TransformFields(from)
        var start = element
        _ = self.apply(fields, to: &start)
        var clamped = fields
        if self.rules(for: element.type).lockedAspect, fields.scaleX != nil || fields.scaleY != nil {
            (clamped.scaleX, clamped.scaleY) = (start.scaleX, start.scaleY)
        }
        for (field, _) in clamped.set { clamped[field] = start[field] }
        return clamped
    }

    /// The first field that an animation moves although the element's type, or its space, forbids it; nil if none.
    package func forbiddenTrack(of animation: KeyframeAnimation, on element: Element) -> ElementField? {
        animation.tracks.fields.first { !self.allows($0, on: element) }
    }

    private func allows(_ field: ElementField, on element: Element) -> Bool {
        let rules = self.rules(for: element.type)
        return field.isDeep ? rules.allowsDepth(of: element) : field != .rotation || rules.rotates
    }
}

extension Segment {
    /// A spring's way until it rests; nil if it never moves as far as can be seen.
    init?(from: Double, to: Double, settling spring: Spring, epsilon: Double) {
        let ms = spring.settlingTime(from: from - to, epsilon: epsilon)
        guard ms > 0 else { return nil }
        self.init(from: from, to: to, ms: ms, curve: .spring(spring))
    }
}

extension ElementField {
    /// A velocity that is at most its field's highest; another one is noted with the place where it was sent.
    func clampedVelocity(
        _ sent: Double, _ path: @autoclosure () -> String, _ unit: Double, _ adjustments: inout [Adjustment]
    ) -> Double {
        let top = self.topSpeed * unit
        let stored = clamped(usableNumber(sent) ?? 0, -top, top) + 0
        adjustments.note(path(), sent, stored, .range)
        return stored
    }
}
