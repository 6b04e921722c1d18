import Canvas
import JSONBytes
import Mesh
import Stages
import Testing
import Wire

@Suite struct RulesNoticesTests {
    private var notices = RulesNotices(fingerprint: 1)

    /// The peers that are notified in a turn, and of what.
    private mutating func turn(_ answer: SendResult = .sent) -> [Int: UInt64] {
        var told: [Int: UInt64] = [:]
        self.notices.flush { bytes, peer in
            bytes.withUnsafeBytes { envelope in
                guard var reader = try? EnvelopeReader(envelope), let record = try? reader.next() else { return }
                told[peer] = (try? EnvelopeReader.decode(RulesNotice.self, record.fields))?.fingerprint
            }
            return answer
        }
        return told
    }

    @Test mutating func eachIsNotifiedOnceWhenItsLinkComesUp() {
        #expect(self.turn() == [:])
        self.notices.linkUp(1)
        #expect(self.turn() == [1: 1])
        #expect(self.turn() == [:])
    }

    @Test mutating func aChangeIsSaidToAllThatAreUp() {
        for peer in 0..<3 { self.notices.linkUp(peer) }
        self.notices.linkDown(2)
        #expect(self.turn() == [0: 1, 1: 1])
        self.notices.rulesChanged(7)
        #expect(self.turn() == [0: 7, 1: 7])
    }

    @Test mutating func aFullLinkIsRetriedWithTheLatest() {
        self.notices.linkUp(0)
        #expect(self.turn(.wouldBlock) == [0: 1])
        self.notices.rulesChanged(7)
        #expect(self.turn() == [0: 7])
        #expect(self.turn() == [:])
    }
}

@Suite struct RulesFingerprintTests {
    @Test func equalRulesHaveTheSameFingerprint() throws {
        var other = RulesTable.defaults
        #expect(other.fingerprint == RulesTable.defaults.fingerprint)
        other = try table(#"{"a":{},"b":{"maxScale":2}}"#)
        #expect(try other.fingerprint == table(#"{"b":{"maxScale":2},"a":{}}"#).fingerprint)
        #expect(other.fingerprint != RulesTable.defaults.fingerprint)
    }
}

private func table(_ text: String) throws -> RulesTable {
    var document = JSONDocument()
    try document.parse(Array(text.utf8))
    return try RulesTable(json: document.root)
}
