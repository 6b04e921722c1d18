import Canvas
import JSONBytes
import Testing

private func written(_ element: Element) -> String { text { element.encode(into: &$0) } }

/// A field that moves and has no rule but its range, at each place where the table of fields is used.
@Suite struct OpacityTests {
    @Test func itIsClampedToItsRange() throws {
        var note = try created("note").0
        for (sent, stored) in [(0.25, 0.25), (-3, 0), (7, 1), (.infinity, 1)] {
            let adjustments = rules.apply(TransformFields(opacity: sent), to: &note)
            #expect(note.opacity == stored)
            let reported = sent == .infinity ? Double.greatestFiniteMagnitude : sent
            #expect(adjustments == (sent == stored ? [] : [adjustment("opacity", reported, stored, .range)]))
        }
        let (faint, adjustments) = try created("note", #""opacity":2"#)
        #expect(faint.opacity == 1 && adjustments == [adjustment("opacity", 2, 1, .range)])
    }

    @Test func itIsWrittenUnlessItIsOne() throws {
        let (faint, _) = try created("note", #""opacity":0.5"#)
        #expect(written(faint).contains(#""scaleY":1,"opacity":0.5,"originalWidth":100"#))
        #expect(Element(json: try json(written(faint))) == faint)
        let (plain, _) = try created("note", #""opacity":1"#)
        #expect(!written(plain).contains("opacity"))
        #expect(Element(json: try json(written(plain)))?.opacity == 1)
        #expect(plain != faint)
    }

    @Test func aGroupsGeometryHasIt() throws {
        let (faint, _) = try created("note", #""opacity":0.5"#)
        let geometry = ElementText(Array(written(faint).utf8)).geometry()
        #expect(try json(String(decoding: geometry, as: UTF8.self))["opacity"]?.double == 0.5)
    }

    @Test func itIsReadInATransformAlone() throws {
        let payload = try json(#"{"opacity":0.1,"transform":{"opacity":0.5}}"#)
        for isPreview in [true, false] {
            #expect(try TransformFields(payload, isPreview: isPreview) == TransformFields(opacity: 0.5))
        }
        #expect(
            refusedField { try TransformFields(try json(#"{"opacity":0.1}"#), isPreview: false) } == "transform")
        #expect(refusedField { try ElementChanges(try json(#"{"opacity":0.1}"#)) } == "set.opacity")
    }

    @Test func undoBringsItBackUnlessItWasSetSince() throws {
        let (before, _) = try created("note")
        var after = before
        _ = rules.apply(TransformFields(positionX: 5, opacity: 0.5), to: &after)
        let change = ChangedElement(before: before, after: after)
        #expect(change.changesGeometry && !change.changesContent)
        var now = after
        #expect(change.undo(in: &now, hasLockedAspect: false) == nil && now == before)
        now = after
        _ = rules.apply(TransformFields(opacity: 0.7), to: &now)
        change.undo(in: &now, hasLockedAspect: false)
        #expect(now.opacity == 0.7 && now.positionX == 0)
    }

    @Test func itMovesBetweenUpdates() throws {
        var (note, _) = try created("note")
        var motion = try #require(RemoteMotion(from: note.pose))
        note.opacity = 0
        motion.receive(note.pose, at: 100, gap: 100)
        #expect(isClose(motion.pose(at: 150).opacity, 0.5))
        #expect(motion.pose(at: 200).opacity == 0)
    }
}
