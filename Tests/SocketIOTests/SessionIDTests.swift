import SocketIO
import Testing

@Suite struct SessionIDTests {
    private static let secret = "Zk3-_AbCdEfGhIjKlMn0"

    private static let longest = String(repeating: "n", count: SessionID.longestName)

    @Test(arguments: ["", "a", "gateway-1", "10.0.0.5", "a.b_c-D", longest])
    func anIDIsTheNameOfItsServerAndAPartThatNobodyGuesses(server: String) throws {
        let text = server.isEmpty ? Self.secret : "\(server).\(Self.secret)"
        let id = try #require(SessionID(bytes(text)))
        #expect(id.server == bytes(server))
        #expect(id.text == bytes(text) && id == SessionID(server: bytes(server), id: id.id))
    }

    @Test func noTwoIDsOfAServerAreTheSame() {
        var generator = SystemRandomNumberGenerator()
        let ids = (0..<1000).map { _ in SessionID(server: bytes("a"), id: EngineID(using: &generator)).text }
        #expect(Set(ids).count == 1000)
    }

    @Test(arguments: [
        "", "a", ".", "a.", ".\(secret)", "a\(secret)", "a-\(secret)", "a.\(secret)x", "a.\(secret.dropLast())",
        "a.\(secret.dropLast())~", "\(secret).", "n\(longest).\(secret)",
    ])
    func whatNoServerGaveOutIsNoID(_ text: String) {
        #expect(SessionID(bytes(text)) == nil)
    }
}
