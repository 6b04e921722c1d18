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
                var membership = Membership(of: 1, "ada", in: room, options: StreamOptions(), since: .start)
                membership.startJoin(step)
                let earlier = memberships.remove(room)
                #expect(earlier?.join == expected[room])
                memberships.insert(membership, for: room)
                expected[room] = step
            case 3:
                if let index = memberships.index(of: room) { memberships.entries[index].startJoin(step + 1) }
                if expected[room] != nil { expected[room] = step + 1 }
            default:
                let removed = memberships.remove(room)
                #expect(removed?.join == expected[room])
                expected[room] = nil
            }
            #expect(memberships.count == expected.count)
            #expect(memberships.contains(room) == (expected[room] != nil))
            let found = Dictionary(uniqueKeysWithValues: memberships.map { ($0.room, $0.membership.join ?? 0) })
            #expect(found == expected)
            for (room, number) in expected { #expect(memberships[room]?.join == number) }
        }
        #expect(Set(memberships.rooms) == Set(expected.keys))
        #expect(memberships.entries.compactMap(\.join).sorted() == expected.values.sorted())
    }
}
