internal import Canvas
internal import JSONBytes
internal import Wire

extension Room {
    /// What becomes of a preview.
    enum PreviewVerdict: Equatable {
        /// It goes on as it now is.
        case pass
        /// It waits for an update.
        case park
        /// It goes nowhere.
        case drop(PreviewDrop)
    }

    /// Judges a preview and, if it passes, makes it what others may see: by the rules, on the stored element.
    mutating func judge(
        _ preview: inout Preview, rules: RulesTable, with document: inout JSONDocument, at now: UInt64,
        limits: FanoutLimits
    ) -> PreviewVerdict {
        if !self.owners.isEmpty, let owner = self.owners[preview.sid], owner.connection != preview.connection {
            return .drop(.superseded)
        }
        guard self.isLive, preview.after <= self.seq else { return .park }
        guard let place = self.elements.place(of: preview.element) else { return .drop(.element) }
        let fence = self.elements[place].fences.place(of: preview.sid, at: now, limits: limits)
        if preview.gesture <= self.elements[place].fences[fence].closed { return .drop(.closed) }
        guard let stored = self.elements.element(at: place, with: &document) else { return .drop(.element) }
        if stored.locked { return .drop(.locked) }
        preview.fields.width = nil
        preview.fields.height = nil
        preview.fields = rules.shown(preview.fields, on: stored)
        if preview.fields == TransformFields() { return .drop(.empty) }
        preview.after = self.elements[place].seq
        self.elements[place].fences[fence].shown = max(
            self.elements[place].fences[fence].shown, preview.gesture)
        self.elements[place].fences[fence].connection = preview.connection
        self.elements[place].fences[fence].touched = now
        return .pass
    }

    /// Ends a gesture without a commit. Returns what the members are told, if they saw anything of it.
    mutating func end(_ gesture: GestureEnd, at now: UInt64, limits: FanoutLimits) -> GestureEnded? {
        guard let place = self.elements.place(of: gesture.element) else { return nil }
        // A fan-out that took the room over a moment ago cannot know what was shown before.
        let isUncertain =
            self.isTakenOver(within: limits.fenceAge, at: now)
            && self.elements[place].fences.index(of: gesture.sid) == nil
        let wasShown = self.elements[place].fences.close(gesture.gesture, of: gesture.sid, at: now, limits: limits)
        guard wasShown || isUncertain else { return nil }
        return GestureEnded(gesture: gesture, seq: self.elements[place].seq, json: self.elements[place].json)
    }

    /// Ends all gestures of a connection that vanished without saying so, or of those sessions that it left for
    /// another one.
    mutating func endGestures(
        of connection: UInt64, user: Identifier, but session: Identifier? = nil, at now: UInt64
    ) -> [GestureEnded] {
        var ended: [GestureEnded] = []
        let name = self.name
        self.elements.updateFences { slot in
            for index in slot.fences.all.indices {
                let fence = slot.fences[index]
                guard fence.isOpen, fence.connection == connection, fence.sid != session else { continue }
                slot.fences[index].closed = fence.shown
                slot.fences[index].touched = now
                let gesture = GestureEnd(
                    room: name, element: slot.id, user: user, sid: fence.sid, gesture: fence.shown)
                ended.append(GestureEnded(gesture: gesture, seq: slot.seq, json: slot.json))
            }
        }
        return ended
    }
}

extension RulesTable {
    /// What others see of the fields: each by the rules on the element as it is stored. Only what was sent is given
    /// back, except that an aspect lock moves both scales, so both are shown.
    func shown(_ fields: TransformFields, on stored: Element) -> TransformFields {
        var element = stored
        _ = self.apply(fields, to: &element)
        var shown = TransformFields()
        if fields.positionX != nil { shown.positionX = element.positionX }
        if fields.positionY != nil { shown.positionY = element.positionY }
        if fields.rotation != nil { shown.rotation = element.rotation }
        let showsX = fields.scaleX != nil
        let showsY = fields.scaleY != nil
        let showsBoth = showsX != showsY && self.rules(for: stored.type).lockedAspect
        if showsX || showsBoth { shown.scaleX = element.scaleX }
        if showsY || showsBoth { shown.scaleY = element.scaleY }
        return shown
    }
}
