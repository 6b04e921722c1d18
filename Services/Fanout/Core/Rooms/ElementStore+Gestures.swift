internal import Canvas
internal import JSONBytes
internal import Timing
internal import Wire

/// What becomes of a preview.
enum PreviewVerdict: Equatable, Sendable {
    /// It goes on as it now is.
    case pass
    /// It waits for an update.
    case wait
    /// It goes nowhere.
    case drop(PreviewDrop)
}

/// Updates and previews meet here: an update closes gestures, and no preview of a closed one passes.
extension ElementStore {
    /// Applies an update, and closes the gestures that it ended.
    mutating func apply(_ update: Update, at now: Instant) {
        for entry in update.entries {
            if entry.isDeleted {
                self.remove(entry.id)
                continue
            }
            let index = self.set(entry.id, json: update.json(of: entry), seq: update.seq)
            if entry.gesture > 0 {
                self.changeFences(at: index) { $0.close(entry.gesture, of: update.sid, at: now) }
            }
        }
    }

    /// Becomes what a snapshot says, and closes the gestures that it names.
    mutating func replace(with snapshot: RoomSnapshot, at now: Instant) {
        self.replace(with: snapshot.elements)
        for closed in snapshot.closed {
            self.changeFences(of: closed.element) { $0.close(closed.gesture, of: closed.sid, at: now) }
        }
    }

    /// Judges a preview that nothing must precede any more. If it passes, it becomes what others may see: by the
    /// rules, on the stored element.
    /// - Parameter needsArea: whether a gateway wants to know where it can be seen.
    mutating func judge(
        _ preview: inout Preview, needsArea: Bool, rules: RulesTable, with document: inout JSONDocument,
        at now: Instant, limits: FanoutLimits
    ) -> PreviewVerdict {
        guard let index = self.index(of: preview.element) else { return .drop(.element) }
        let ensured = self.changeFences(at: index) { $0.ensure(for: preview.sid, at: now, limits: limits) }
        guard let fence = ensured else { return .drop(.crowded) }
        if preview.gesture <= self[index].fences[fence].closed { return .drop(.closed) }
        guard let stored = self.element(at: index, with: &document) else { return .drop(.element) }
        if stored.locked { return .drop(.locked) }
        if preview.delta?.pivot != nil, stored.space == .normalized { return .drop(.place) }
        preview.fields.width = nil
        preview.fields.height = nil
        if let delta = preview.delta.take() {
            let parentSize = self.parent(of: stored, with: &document)?.originalSize
            preview.fields = rules.shown(delta, on: stored, parentSize: parentSize)
        } else {
            preview.fields = rules.shown(preview.fields, on: stored)
        }
        if preview.fields.isEmpty { return .drop(.empty) }
        preview.after = self[index].seq
        if needsArea {
            self.locate(&preview, of: stored, at: index, fence, with: &document)
        } else if case .shown = self[index].fences[fence].motion {
            self[index].fences[fence].motion = .unknown
        }
        self[index].fences[fence].show(preview.gesture, from: preview.connection, at: now)
        return .pass
    }

    /// Ends a gesture without a commit. Returns the record for members; nil when they saw nothing of it, or when it goes
    /// on: the session's next owner has shown previews since the connection went away that it ends with.
    /// - Parameter isUncertain: previews may have been shown that are not known here.
    mutating func end(
        _ gesture: GestureEnd, isUncertain: Bool, at now: Instant, limits: FanoutLimits
    ) -> GestureEnded? {
        guard let index = self.index(of: gesture.element) else {
            self.changeFences(of: gesture.element) {
                _ = $0.end(gesture.gesture, of: gesture.sid, at: now, limits: limits)
            }
            return nil
        }
        let known = self[index].fences.index(of: gesture.sid)
        if gesture.connection > 0, let known, self[index].fences[known].isContinued(after: gesture.connection) {
            return nil
        }
        let isUnknown = known == nil
        let wasShown = self.changeFences(at: index) {
            $0.end(gesture.gesture, of: gesture.sid, at: now, limits: limits)
        }
        guard wasShown || (isUncertain && isUnknown) else { return nil }
        return GestureEnded(gesture: gesture, seq: self[index].seq, json: self[index].json)
    }

    /// Ends the open gestures of connections, of which the users are given, but not those of `session`.
    mutating func endGestures(
        of users: [UInt64: Identifier], in room: Identifier, but session: Identifier?, at now: Instant
    ) -> [GestureEnded] {
        var ended: [GestureEnded] = []
        self.changeAllFences { slot in
            for index in slot.fences.all.indices {
                let fence = slot.fences[index]
                guard fence.isOpen, fence.sid != session, let user = users[fence.connection] else { continue }
                slot.fences[index].closed = fence.shown
                slot.fences[index].motion = .unknown
                slot.fences[index].touched = now
                let gesture = GestureEnd(room: room, element: slot.id, user: user, sid: fence.sid, gesture: fence.shown)
                ended.append(GestureEnded(gesture: gesture, seq: slot.seq, json: slot.json))
            }
        }
        return ended
    }

    /// Forgets gestures that ended so long ago that no preview of them can be under way.
    mutating func removeExpiredFences(at now: Instant, limits: FanoutLimits) {
        self.changeAllFences { slot in slot.fences.removeExpired(at: now, limits: limits) }
        self.removeExpiredDepartedFences(at: now, limits: limits)
    }
}

extension RulesTable {
    /// What others see of the fields: each by the rules on the element as it is stored. Only what was sent is
    /// returned, except that an aspect lock moves both scales, so both are shown.
    func shown(_ fields: TransformFields, on stored: Element) -> TransformFields {
        var element = stored
        _ = self.apply(fields, to: &element)
        var shown = TransformFields()
        for (field, _) in fields.set { shown[field] = element[field] }
        if (fields.scaleX == nil) != (fields.scaleY == nil), self.rules(for: stored.type).lockedAspect {
            (shown.scaleX, shown.scaleY) = (element.scaleX, element.scaleY)
        }
        return shown
    }

    /// What others see of deltas on the element as it is stored, as values. Previews have no anchor, so the position is
    /// that of the stored anchor, wherever the gesture has put the new one.
    func shown(_ delta: PreviewDelta, on stored: Element, parentSize: Size?) -> TransformFields {
        var element = stored
        _ = self.apply(delta.fields.gesture, to: &element, pivot: delta.pivot, parentSize: parentSize)
        var shown = TransformFields()
        // About a pivot a scale turns what does not lie along the canvas's axes, and the next one may turn it back.
        let (sine, cosine) = Angle(degrees: stored.rotation).sineAndCosine
        let turns = delta.pivot != nil && delta.fields.scale != nil && sine != 0 && cosine != 0
        if turns || delta.fields.rotation != nil { shown.rotation = element.rotation }
        if delta.fields.scale != nil { (shown.scaleX, shown.scaleY) = (element.scaleX, element.scaleY) }
        if delta.fields.tilt != nil { (shown.rotationX, shown.rotationY) = (element.rotationX, element.rotationY) }
        if delta.fields.anchor != nil {
            let anchor = Point(x: stored.anchorX, y: stored.anchorY)
            let position = element.position(withAnchor: anchor, parentSize: parentSize)
            let isCanvas = stored.space == .canvas
            shown.positionX = isCanvas ? position.x.rounded(.toNearestOrAwayFromZero) : position.x
            shown.positionY = isCanvas ? position.y.rounded(.toNearestOrAwayFromZero) : position.y
        } else if delta.fields.translation != nil || delta.pivot != nil {
            (shown.positionX, shown.positionY) = (element.positionX, element.positionY)
        }
        return shown
    }
}
