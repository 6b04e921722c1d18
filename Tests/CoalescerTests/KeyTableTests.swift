import Testing
import Timing
import TimingTestKit
import Wire

@testable import CoalescerCore

@Suite struct KeyTableTests {
    private var keys = KeyTable(limits: CoalescerLimits(maxEntries: 4, memory: .seconds(1)))

    private mutating func entry(_ element: Identifier, room: Identifier = "r", at now: Instant) -> EntryIndex? {
        self.keys.entry(room: room, element: element, connection: 1, at: now)
    }

    @Test mutating func aKeyKeepsItsEntry() {
        let first = self.entry("a", at: 0)
        #expect(self.entry("b", at: 1) != first)
        #expect(self.entry("a", at: 2) == first)
        #expect(self.keys.entryCount == 2)
        #expect(self.keys.roomCount == 1)
    }

    @Test mutating func aSilentKeyIsForgottenAndItsRoomWithTheLast() {
        _ = self.entry("a", at: 0)
        _ = self.entry("b", room: "s", at: 600_000_000)
        self.keys.forgetSilent(at: 1_000_000_000)
        #expect(self.keys.entryCount == 1)
        #expect(self.keys.roomCount == 1)
        self.keys.forgetSilent(at: 3_000_000_000)
        #expect(self.keys.entryCount == 0)
        #expect(self.keys.roomCount == 0)
    }

    @Test mutating func aSilentKeyIsEvictedRatherThanABusyOne() {
        let busy = self.entry("busy", at: 0)
        for element in ["a", "b", "c"] as [Identifier] { _ = self.entry(element, at: 1) }
        _ = self.entry("busy", at: 2)
        _ = self.entry("new", at: 3)
        #expect(self.keys.entryCount == 4)
        #expect(self.keys.evicted == 1)
        #expect(self.entry("busy", at: 4) == busy)
    }

    @Test mutating func whatWaitsForADepartureIsNeverEvicted() {
        for element in ["a", "b", "c", "d"] as [Identifier] {
            if let entry = self.entry(element, at: 0) { self.keys.hold(preview(element), in: entry, at: 0) }
        }
        #expect(self.entry("e", at: 1) == nil)
        #expect(self.keys.evicted == 0)
        // Nor is it forgotten, however long it waits.
        self.keys.forgetSilent(at: 9_000_000_000)
        #expect(self.keys.entryCount == 4)
    }

    // MARK: Held previews

    private mutating func hold(_ preview: Preview, at now: Instant) throws -> EntryIndex {
        let known = self.entry(preview.element, at: now)
        let entry = try #require(known)
        self.keys.hold(preview, in: entry, at: now)
        return entry
    }

    private mutating func depart(at now: Instant) -> (sent: [Preview], waits: [Nanoseconds], next: Instant) {
        var (sent, waits) = ([Preview](), [Nanoseconds]())
        let next = self.keys.depart(0, at: now, regardlessOfRates: false) { preview, wait in
            sent.append(preview)
            waits.append(wait)
        }
        return (sent, waits, next)
    }

    @Test mutating func aDepartureSendsWhatIsHeldInOrderAndSaysHowLongItWaited() throws {
        _ = try self.hold(preview("b", x: 1), at: ms(0))
        _ = try self.hold(preview("a", x: 2), at: ms(3))
        #expect(self.keys.heldCount == 2 && self.keys[room: 0].heldMovers == 2)
        let departure = self.depart(at: ms(5))
        #expect(departure.sent.map(\.element) == ["b", "a"] && departure.waits == [ms(5), ms(2)])
        #expect(departure.next == .never && self.keys.heldCount == 0 && self.keys[room: 0].heldCount == 0)
        #expect(self.depart(at: ms(6)).sent.isEmpty)
    }

    @Test mutating func aKeyThatHasUsedUpItsRateStays() throws {
        for moment in [0, 1, 2] as [Double] {
            _ = try self.hold(preview("a", x: moment), at: ms(moment))
            _ = self.depart(at: ms(moment))
        }
        _ = try self.hold(preview("b"), at: ms(2))
        let departure = self.depart(at: ms(2))
        #expect(departure.sent.map(\.element) == ["b"] && self.keys.heldCount == 1)
        #expect(departure.next == ms(16))
        #expect(self.depart(at: departure.next).sent.map(\.sinceLast) == [15])
    }

    @Test mutating func foldedPreviewIsSentOnce() throws {
        let entry = try self.hold(preview(x: 1), at: ms(0))
        #expect(self.keys.fold(preview(y: 2), into: entry) == true)
        #expect(self.keys.fold(preview(gesture: 2, x: 3), into: entry) == false)
        let sent = self.depart(at: ms(1)).sent
        #expect(sent.map(\.gesture) == [2] && sent.map(\.folded) == [3])
    }

    @Test mutating func membersOfAGroupAreOneMover() throws {
        var member = preview("a")
        member.group = .member
        let entry = try self.hold(member, at: ms(0))
        var last = preview("b")
        last.group = .last
        _ = try self.hold(last, at: ms(0))
        #expect(self.keys[room: 0].heldCount == 2 && self.keys[room: 0].heldMovers == 1)
        #expect(self.keys.fold(preview("a"), into: entry) == true)
        #expect(self.keys[room: 0].heldMovers == 2)
        _ = self.depart(at: ms(1))
        _ = try self.hold(member, at: ms(20))
        #expect(self.keys[room: 0].heldCount == 1 && self.keys[room: 0].heldMovers == 0)
        _ = self.depart(at: ms(20))
        #expect(self.keys[room: 0].heldCount == 0 && self.keys[room: 0].heldMovers == 0)
    }

    @Test mutating func droppedPreviewIsNotSentAndItsRoomEndsWithTheLast() throws {
        let first = try self.hold(preview("a"), at: ms(0))
        let second = try self.hold(preview("b"), at: ms(0))
        #expect(self.keys.drop(first) == false && self.keys[entry: first].isQueued)
        #expect(self.keys.drop(second) == true && !self.keys[entry: first].isQueued)
        #expect(self.keys.heldCount == 0 && self.depart(at: ms(1)).sent.isEmpty)
    }
}
