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
            if let entry = self.entry(element, at: 0) { self.keys[entry: entry].isQueued = true }
        }
        #expect(self.entry("e", at: 1) == nil)
        #expect(self.keys.evicted == 0)
        // Nor is it forgotten, however long it waits.
        self.keys.forgetSilent(at: 9_000_000_000)
        #expect(self.keys.entryCount == 4)
    }
}
