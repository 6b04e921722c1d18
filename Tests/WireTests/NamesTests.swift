import Testing
import Wire

@Suite struct NamesTests {
    /// The same letter in two normalisation forms: equal to Swift, different bytes.
    static let composed = "caf\u{e9}"
    static let decomposed = "cafe\u{301}"

    @Test func normalisationTwinsDiffer() {
        #expect(Self.composed == Self.decomposed)
        let composed = Identifier(Self.composed)
        let decomposed = Identifier(Self.decomposed)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect([composed: 1, decomposed: 2][decomposed] == 2)
        #expect(decomposed < composed)
        #expect(!(composed < decomposed))
    }

    @Test func whatSwiftTakesForASCIIDiffers() {
        // The Kelvin sign, the ohm sign and the Greek question mark are equal to other characters.
        for (other, plain) in [("\u{212a}", "K"), ("x\u{2126}", "x\u{3a9}"), ("\u{37e}", ";")] {
            #expect(other == plain)
            #expect(Identifier(other) != Identifier(plain))
            #expect(Identifier(plain) != Identifier(other))
        }
    }

    @Test func normalisationTwinsDifferAcrossTheWire() throws {
        for text in [Self.composed, Self.decomposed] {
            let leave = Leave(room: Identifier(text), connection: 1)
            let back = try decode(Leave.self, encode(leave))
            #expect(Array(back.room.text.utf8) == Array(text.utf8))
        }
    }

    @Test func orderIsBytewise() {
        let sorted: [Identifier] = ["", "\0", "A", "Z", "a", "aa", "b", "é", "漢", "😀"]
        #expect(sorted.shuffled().sorted() == sorted)
    }

    @Test func namesOfEveryLengthAreInBytewiseOrderWhereverTheyDifferFirst() {
        for count in 0..<40 {
            let name = String(decoding: (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 20) }, as: UTF8.self)
            for place in 0...count {
                for other in ["", "A", "b", "z", "é", "漢"] {
                    let changed = name.prefix(place) + other + name.dropFirst(place + 1)
                    let (left, right) = (Identifier(name), Identifier(String(changed)))
                    #expect((left < right) == name.utf8.lexicographicallyPrecedes(changed.utf8))
                    #expect((right < left) == changed.utf8.lexicographicallyPrecedes(name.utf8))
                }
            }
        }
    }

    @Test func equalBytesFromDifferentStorageAreEqual() {
        // A small string, a large one and a slice of a larger one hash alike.
        let long = String(repeating: "x", count: 40)
        #expect(Identifier(String(("abc" + long).dropFirst(3))) == Identifier(long))
        #expect(Set([Identifier(String(("abc" + long).dropFirst(3))), Identifier(long)]).count == 1)
        #expect(Set([Identifier(String("xab".dropFirst())), "ab"]).count == 1)
    }

    @Test func shardsStay() {
        // FNV-1a's own published vectors.
        #expect(FNV1a.hash("".utf8) == 0xcbf2_9ce4_8422_2325)
        #expect(FNV1a.hash("a".utf8) == 0xaf63_dc4c_8601_ec8c)
        #expect(FNV1a.hash("foobar".utf8) == 0x8594_4171_f739_67e8)
        // Rooms stay in their shard for ever: the number is stored in the database.
        #expect(Shard.of(room: "") == 37)
        #expect(Shard.of(room: "a") == 12)
        #expect(Shard.of(room: "r1") == 44)
        #expect(Shard.of(room: "r11") == 7)
        #expect(Shard.of(room: "demo") == 22)
        #expect(Shard.of(room: "A.b:c-d_9") == 50)
        #expect(Shard.of(room: Identifier(String(repeating: "x", count: 64))) == 37)
    }

    @Test func roomsSpreadOverAllShards() {
        var counts = [Int](repeating: 0, count: Shard.count)
        for index in 0..<6400 { counts[Shard.of(room: Identifier("room-\(index)"))] += 1 }
        #expect(counts.allSatisfy { (40...180).contains($0) }, "\(counts)")
    }

    @Test func hashingInPiecesIsHashingTheWhole() {
        var hash = FNV1a()
        hash.combine("foo".utf8)
        hash.combine("bar".utf8)
        #expect(hash.value == FNV1a.hash("foobar".utf8))
    }

    @Test func streamNames() {
        #expect(SessionKey.app(sid: "abc") == "abc")
        #expect(SessionKey.gateway(sid: "abc", sessionEpoch: 12) == "abc.12")
        #expect(SessionKey.sid(of: "abc.12") == "abc")
        #expect(SessionKey.sid(of: "abc") == "abc")
        #expect(SessionKey.isApp("abc"))
        #expect(!SessionKey.isApp("abc.1"))
        for (session, sid) in [(SessionKey.http("abc"), "h:"), (SessionKey.command("abc"), "o:")] {
            #expect(!SessionKey.isApp(session) && SessionKey.sid(of: session).text == sid)
        }
        #expect(SessionKey.isApp("h") && SessionKey.isApp("ab:"))
    }

    @Test func refusalsAsAppsKnowThem() {
        let retriable = RefusalCode.allCases.filter(\.isRetriable).map(\.name)
        #expect(retriable == ["gap", "rate_limited", "busy", "unavailable", "session_expired"])
        let final = RefusalCode.allCases.filter { !$0.isRetriable }.map(\.name)
        #expect(
            final == ["invalid", "forbidden", "not_found", "gone", "conflict", "too_large", "unknown_event"])
        for event in UpdateEvent.allCases { #expect(UpdateEvent(name: event.name) == event) }
        #expect(UpdateEvent(name: "element:resized") == nil)
    }
}
