import Canvas
import Wire

/// An edit that lets go of elements in motion.
protocol ThrowingEdit: DecidableEdit {
    var items: [ThrownItem] { get }
    var request: Throw { get }
}

extension ThrowElement: ThrowingEdit {
    var items: [ThrownItem] { [self.item] }
}

extension ThrowElements: ThrowingEdit {}

extension ThrowingEdit {
    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {
        for element in self.elements { need(element, .element) }
    }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        let isGroup = Self.traits.isGroup
        if isGroup { try draft.checkGroup(self.items.count) }
        var alteration = Alteration(isGroup ? .transformedMany : .transformed, by: commit, in: &draft, &cache)
        var subjects: [Alteration.Subject] = []
        for (index, item) in self.items.enumerated() {
            let path = isGroup ? "elements[\(index)].elementId" : "elementId"
            let subject = try alteration.subject(
                item.element, field: path, respectsLock: true, in: &draft, &cache)
            if isGroup, subject.former.space == .normalized {
                throw Refusal(.invalid, "An annotation is thrown alone.", field: path)
            }
            subjects.append(subject)
        }
        var thrown = zip(subjects, self.items).map { subject, item in
            ThrownElement(subject.former, fields: item.fields, shown: subject.former.shownInFlight(at: draft.time))
        }
        draft.rules.apply(self.request, to: &thrown, at: draft.time)
        for (subject, thrown) in zip(subjects, thrown) {
            alteration.add(subject, as: self.element(after: thrown, from: subject.former), adjusted: thrown.adjusted)
        }
        return alteration.change
    }

    /// A thrown element at rest, with its new tracks.
    private func element(after thrown: ThrownElement, from former: Element) -> Element {
        var element = thrown.element
        element.endTracks(changedFrom: former)
        element.playback.endTracks(of: thrown.tracks.fields, adding: false)
        element.motion.tracks.merge(thrown.tracks)
        return element
    }
}

extension Element {
    /// Where what can fly shows, less what an animation adds.
    fileprivate func shownInFlight(at time: Double) -> TransformFields {
        TransformFields(
            positionX: self.shown(.positionX, at: time, adding: false),
            positionY: self.shown(.positionY, at: time, adding: false),
            rotation: self.shown(.rotation, at: time, adding: false))
    }
}
