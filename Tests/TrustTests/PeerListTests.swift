import Testing

@testable import Trust

@Suite struct PeerListTests {
    private let first = KeyPair().publicKey
    private let second = KeyPair().publicKey

    private func list(_ text: String) throws -> PeerList { try PeerList(parsing: Array(text.utf8)) }

    @Test func commentsAndEmptyLinesAreSkipped() throws {
        let list = try self.list("# peers\n\n  gateway\tg-1  \(self.first)\r\n # more\n")
        #expect(list.entries == [.init(role: .gateway, name: "g-1", key: self.first)])
        #expect(try self.list("").entries.isEmpty)
    }

    @Test func aNameMayHaveSeveralKeysAndExactOnesComeFirst() throws {
        let list = try self.list(
            "committer c-* \(self.first)\ncommitter c-1 \(self.second)\ncommitter c-1 \(self.first)")
        #expect(list.keys(of: .committer, named: "c-1") == [self.second, self.first])
        #expect(list.keys(of: .committer, named: "c-2") == [self.first])
        #expect(list.keys(of: .committer, named: "d-1").isEmpty)
        #expect(list.keys(of: .fanout, named: "c-1").isEmpty)
    }

    @Test func aKeyMayUseItsNamesInItsRolesOnly() throws {
        let list = try self.list("gateway g-* \(self.first)\nfanout f-1 \(self.first)\ncoalescer * \(self.second)")
        #expect(list.roles(of: self.first) == [PeerRoles(.gateway), PeerRoles(.fanout)])
        #expect(list.roles(of: self.first, named: "g-7") == PeerRoles(.gateway))
        #expect(list.roles(of: self.first, named: "f-1") == PeerRoles(.fanout))
        #expect(list.roles(of: self.first, named: "f-10") == [])
        #expect(list.roles(of: self.second, named: "f-1") == PeerRoles(.coalescer))
        #expect(list.roles(of: KeyPair().publicKey) == [])
    }

    @Test func aWrongLineIsNamed() {
        let name = "the name is not 1 to 64 letters, digits, dots, dashes and underscores, or their beginning and *"
        for (line, reason) in [
            ("gateway g-1", "is not of the form ROLE NAME PUBLIC-KEY"),
            ("gateway g-1 \(self.first) #", "is not of the form ROLE NAME PUBLIC-KEY"),
            ("gatway g-1 \(self.first)", "the role is none of gateway, coalescer, committer, fanout"),
            ("gateway g/1 \(self.first)", name),
            ("gateway *-g \(self.first)", name),
            ("gateway \(String(repeating: "g", count: 65)) \(self.first)", name),
            ("gateway g-1 \(self.first)0", "the key is not 40 characters of Z85"),
            ("gateway g-1 secret", "the key is not 40 characters of Z85"),
            ("fanout f \(self.second)", "stands here again"),
        ] {
            #expect(throws: PeerList.Failure(line: 3, reason: reason)) {
                try self.list("# peers\nfanout f \(self.second)\n\(line)\n")
            }
        }
    }

    @Test func rolesAreNamed() {
        #expect(PeerRoles([PeerRoles(.gateway), PeerRoles(.fanout)]).description == "gateway or fanout")
    }
}
