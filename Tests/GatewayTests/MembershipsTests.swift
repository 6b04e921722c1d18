import Testing
import Timing
import Wire

@testable import GatewayCore

@Suite("A connection's rooms")
struct MembershipsTests {
    /// Few are looked through, many are looked up: both must be the same dictionary.
    @Test(arguments: [3, 40])
    func roomsComeAndGoAsInADictionaryFewAndMany(rooms: Int) {
        var memberships = Memberships()
        var expected: [Identifier: UInt64] = [:]
        for step in 0..<UInt64(rooms * 20) {
            // Mixed, so that each room sees each kind of change.
            let mixed = (step &* 0x9e37_79b9_7f4a_7c15) >> 32
            let room = Identifier("room-\(mixed % UInt64(rooms))")
            switch step % 5 {
            case 0, 1, 2:
                var membership = Membership(options: StreamOptions(), since: .start)
                membership.lastNumber = step
                let earlier = memberships.remove(room)
                #expect(earlier?.lastNumber == expected[room])
                memberships.insert(membership, for: room)
                expected[room] = step
            case 3:
                if let index = memberships.index(of: room) { memberships.entries[index].lastNumber += 1 }
                expected[room]? += 1
            default:
                let removed = memberships.remove(room)
                #expect(removed?.lastNumber == expected[room])
                expected[room] = nil
            }
            #expect(memberships.count == expected.count)
            #expect(memberships.contains(room) == (expected[room] != nil))
            let found = Dictionary(uniqueKeysWithValues: memberships.map { ($0.room, $0.membership.lastNumber) })
            #expect(found == expected)
            for (room, number) in expected { #expect(memberships[room]?.lastNumber == number) }
        }
        #expect(Set(memberships.rooms) == Set(expected.keys))
        #expect(memberships.entries.map(\.lastNumber).sorted() == expected.values.sorted())
    }
}
