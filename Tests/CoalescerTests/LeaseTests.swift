import Canvas
import CoalescerCore
import Testing
import Timing
import Wire

/// An element that somebody moves stays with them for a while.
@Suite struct LeaseTests {
    private var coalescer = Coalescer(limits: CoalescerLimits(lease: .milliseconds(1000)))

    private mutating func move(
        _ sid: Identifier, _ element: Identifier = "e", gesture: UInt64 = 1, isPreviewOnly: Bool = false,
        at now: Double
    ) -> Coalescer.PreviewOutcome {
        let connection: UInt64 = sid == "ann" ? 1 : 2
        return self.coalescer.received(
            preview(element, by: connection, gesture: gesture, x: now, sid: sid, isPreviewOnly: isPreviewOnly),
            at: ms(now)
        ).0
    }

    /// The refusal of a commit, which passes the coalescer all the same.
    private mutating func commit(
        _ sid: Identifier, _ elements: Identifier..., gesture: UInt64 = 1, at now: Double
    ) -> Refusal? {
        var commit = CoalescerTests.commit(elements[0], by: sid == "ann" ? 1 : 2, session: sid)
        commit.gestures = ShortList(elements.map { EndedGesture(element: $0, gesture: gesture) })
        if elements.count > 1 { commit.edit = EncodedEdit(DeleteElements(elements)) }
        let refusal = self.coalescer.refusal(of: commit, at: ms(now))
        self.coalescer.commitReceived(commit, at: ms(now))
        return refusal
    }

    @Test mutating func othersMayNotMoveIt() {
        #expect(self.move("ann", at: 0) == .sent)
        #expect(self.move("ben", at: 1) == .leased)
        #expect(self.move("ben", "f", at: 2) != .leased)
        let refusal = self.commit("ben", "e", at: 3)
        #expect(refusal?.code == .conflict && refusal?.heldBy == "u" && refusal?.field == "elementId")
        #expect(self.coalescer.counters.leased == 1 && self.coalescer.counters.conflicts == 1)
        #expect(self.commit("ann", "e", at: 4) == nil)
    }

    @Test mutating func everybodyMovesTheirOwnCursor() {
        func point(_ sid: Identifier, by connection: UInt64) -> Preview {
            .cursor(Point(x: 1, y: 2), in: "r", connection: connection, user: sid, sid: sid, version: 1)
        }
        #expect(self.coalescer.received(point("ann", by: 1), at: ms(0)).0 == .sent)
        #expect(self.coalescer.received(point("ben", by: 2), at: ms(1)).0 != .leased)
        #expect(self.coalescer.leaseCount == 0)
    }

    @Test mutating func aCommitOfTheHolderEndsIt() {
        _ = self.move("ann", at: 0)
        _ = self.commit("ann", "e", at: 1)
        #expect(self.move("ben", at: 2) != .leased)
        #expect(self.move("ann", gesture: 2, at: 3) == .leased)
        #expect(self.commit("ann", "e", gesture: 2, at: 4) != nil)
    }

    @Test mutating func theEndOfTheGestureEndsIt() {
        _ = self.move("ann", gesture: 2, at: 0)
        func end(_ sid: Identifier, _ gesture: UInt64) -> GestureEnd {
            GestureEnd(room: "r", element: "e", user: "u", sid: sid, gesture: gesture)
        }
        self.coalescer.gestureEndReceived(end("ben", 2))
        self.coalescer.gestureEndReceived(end("ann", 1))
        #expect(self.move("ben", at: 1) == .leased)
        self.coalescer.gestureEndReceived(end("ann", 2))
        // The end overtook a preview, on another lane: it is shown, but holds nothing.
        #expect(self.move("ann", gesture: 2, at: 2) != .leased)
        #expect(self.move("ben", at: 3) != .leased)
        #expect(self.move("ann", gesture: 3, at: 4) == .leased)
    }

    @Test mutating func silenceEndsItAndPreviewsRenewIt() {
        _ = self.move("ann", at: 0)
        _ = self.move("ann", at: 900)
        #expect(self.move("ben", at: 1899) == .leased)
        #expect(self.commit("ben", "e", at: 1899) != nil)
        #expect(self.commit("ben", "e", at: 1900) == nil)
        #expect(self.move("ben", gesture: 2, at: 1901) != .leased)
        #expect(self.move("ann", at: 1902) == .leased)
    }

    @Test mutating func previewsOfAnEndedGestureAcquireNothing() {
        _ = self.commit("ann", "e", gesture: 5, at: 0)
        #expect(self.move("ann", gesture: 5, at: 1) == .stale)
        #expect(self.move("ben", at: 2) != .leased)
    }

    /// One element of a group is enough: the refusal names it.
    @Test mutating func aGroupIsRefusedWhole() {
        _ = self.move("ann", "b", at: 0)
        _ = self.move("ben", "a", at: 0)
        let refusal = self.commit("ben", "a", "b", at: 1)
        #expect(refusal?.field == "elements[1]")
        // The gesture of its session has ended, so what it held is free.
        #expect(self.move("ann", "a", at: 2) != .leased)
    }

    @Test mutating func aSessionKeepsItAcrossConnections() {
        _ = self.move("ann", at: 0)
        let again = preview("e", by: 77, gesture: 1, x: 1, sid: "ann")
        #expect(self.coalescer.received(again, at: ms(1)).0 != .leased)
    }

    /// They are shown until somebody who may commit moves the element, too.
    @Test mutating func previewsOfSomebodyWhoMayNotCommitAcquireNothing() {
        #expect(self.move("ann", isPreviewOnly: true, at: 0) == .sent)
        #expect(self.coalescer.leaseCount == 0)
        #expect(self.commit("ben", "e", at: 1) == nil)
        #expect(self.move("ann", isPreviewOnly: true, at: 2) != .leased)
        #expect(self.move("ben", gesture: 2, at: 3) != .leased)
        #expect(self.move("ann", isPreviewOnly: true, at: 4) == .leased)
        #expect(self.commit("ben", "e", gesture: 2, at: 5) == nil)
        #expect(self.move("ann", isPreviewOnly: true, at: 6) != .leased)
    }

    /// A token may be refreshed while a finger is down.
    @Test mutating func lostRightReleasesIt() {
        _ = self.move("ann", at: 0)
        #expect(self.move("ann", isPreviewOnly: true, at: 1) != .leased)
        #expect(self.commit("ben", "e", at: 2) == nil)
        #expect(self.move("ben", gesture: 2, at: 3) != .leased)
        #expect(self.move("ann", isPreviewOnly: true, at: 4) == .leased)
    }

    /// The gesture that was released acquires nothing again: previews of it may have been overtaken.
    @Test mutating func regainedRightCountsForTheNextGesture() {
        _ = self.move("ann", at: 0)
        _ = self.move("ann", isPreviewOnly: true, at: 1)
        #expect(self.move("ann", at: 2) != .leased)
        #expect(self.move("ben", at: 3) != .leased)
        _ = self.commit("ben", "e", at: 4)
        _ = self.move("ann", gesture: 2, at: 5)
        #expect(self.move("ben", gesture: 2, at: 6) == .leased)
    }

    @Test mutating func endedLeasesAreForgotten() {
        for element in 0..<100 { _ = self.move("ann", Identifier("e\(element)"), at: Double(element)) }
        #expect(self.coalescer.leaseCount == 100)
        _ = self.move("ann", "e7", at: 500)
        self.coalescer.forgetSilent(at: ms(1099))
        #expect(self.coalescer.leaseCount == 1)
        self.coalescer.forgetSilent(at: ms(1499))
        #expect(self.coalescer.leaseCount == 1)
        self.coalescer.forgetSilent(at: ms(1500))
        #expect(self.coalescer.leaseCount == 0)
    }

    /// Without space an element can be moved by anyone, as if leases were off.
    @Test mutating func leasesAreBounded() {
        self.coalescer = Coalescer(limits: CoalescerLimits(maxEntries: 2, lease: .milliseconds(1000)))
        for element in ["a", "b", "c"] as [Identifier] { _ = self.move("ann", element, at: 0) }
        #expect(self.coalescer.leaseCount == 2)
        #expect(self.move("ben", "a", at: 1) == .leased)
        #expect(self.move("ben", "c", at: 2) != .leased)
    }

    @Test mutating func withoutLeasesAnybodyMayMoveIt() {
        self.coalescer = Coalescer()
        _ = self.move("ann", at: 0)
        #expect(self.move("ben", at: 1) != .leased)
        #expect(self.commit("ben", "e", at: 2) == nil)
        #expect(self.coalescer.leaseCount == 0)
    }
}
