import FanoutDaemon
import Testing
import Wire

@Suite struct SessionSealTests {
    private static let key = String(repeating: "0f", count: 32)

    @Test func aSecretHoldsForItsRoomAndUserOnly() throws {
        let seal = try #require(SessionSeal(hexadecimal: Self.key))
        let (sid, secret) = seal.issue(room: "r", user: "ann", milliseconds: 1_700_000_000_000, random: 42)
        #expect(seal.verify(secret, room: "r", user: "ann") == sid)
        #expect(seal.verify(secret, room: "q", user: "ann") == nil)
        #expect(seal.verify(secret, room: "r", user: "ben") == nil)
        let other = try #require(SessionSeal(hexadecimal: String(repeating: "1f", count: 32)))
        #expect(other.verify(secret, room: "r", user: "ann") == nil)
        // What stands before a separator cannot be moved behind it.
        let shifted = seal.issue(room: "ra", user: "nn", milliseconds: 1_700_000_000_000, random: 42)
        #expect(shifted.secret != secret)
    }

    @Test func everyChangedCharacterIsNoticed() throws {
        let seal = try #require(SessionSeal(hexadecimal: Self.key))
        let secret = seal.issue(room: "r", user: "ann", milliseconds: 1_700_000_000_000, random: 42).secret
        for index in secret.utf8.indices {
            var changed = Array(secret.utf8)
            let place = secret.utf8.distance(from: secret.utf8.startIndex, to: index)
            changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(seal.verify(String(decoding: changed, as: UTF8.self), room: "r", user: "ann") == nil)
            let cut = String(secret.prefix(place))
            #expect(seal.verify(cut, room: "r", user: "ann") == nil)
        }
        for text in ["", ".", "..", "a.b.c", ".\(secret)", "\(secret).", "\(secret)x"] {
            #expect(seal.verify(text, room: "r", user: "ann") == nil)
        }
    }

    @Test func namesSortByTimeAndAreShort() throws {
        let seal = try #require(SessionSeal(hexadecimal: Self.key))
        var last: Identifier = ""
        for time in stride(from: UInt64(1_700_000_000_000), to: 1_900_000_000_000, by: 7_777_777_777) {
            let sid = seal.issue(room: "r", user: "ann", milliseconds: time, random: .random(in: 0 ... .max)).sid
            #expect(last < sid)
            #expect(sid.text.utf8.count == 15)
            #expect(SessionKey.isApp(sid))
            last = sid
        }
    }

    @Test(arguments: ["", "0", "zz", "0f0f", "0f 0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"])
    func aKeyThatIsNoneIsRefused(text: String) {
        #expect(SessionSeal(hexadecimal: text) == nil)
    }
}
