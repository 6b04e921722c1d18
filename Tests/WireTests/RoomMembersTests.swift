import Testing
import Wire

@Suite struct RoomMembersTests {
    private static func members(_ count: Int) -> [Member] {
        (0..<count).map { index in
            Member(user: Identifier("user-\((index * 7919) % count)"), name: "Ada", color: "#f00")
        }
    }

    @Test(arguments: [0, 1, 500, 501, 1234])
    func everyUserIsInTheOnePartThatIsAboutIt(_ count: Int) {
        let members = Self.members(count)
        let parts = RoomMembers.parts(of: members, in: "r", isComplete: true)
        #expect(parts.flatMap(\.members) == members.sorted { $0.user < $1.user })
        #expect(parts.allSatisfy { $0.members.count <= RoomMembers.largestPart })
        for user in members.map(\.user) + ["a", "user-", "z"] {
            let about = parts.filter { $0.covers(user) }
            #expect(about.count == 1)
            #expect(about.first?.members.contains { $0.user == user } == members.contains { $0.user == user })
        }
    }
}
