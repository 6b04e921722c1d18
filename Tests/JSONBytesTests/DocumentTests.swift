import JSONBytes
import Testing
import Wire

@Suite("Documents and views")
struct DocumentTests {
    private let message = """
        {"roomId":"r1","elementId":"e-1","transform":{"rotation":12.5,"scaleX":-1.25,"scaleY":1e0},"positionX":10,\
        "list":[1,"zwei",[],{},null,true,false],"gesture":7}
        """

    @Test func everyValueIsFoundByNameAndByOrder() throws {
        let root = try parsed(self.message)
        #expect(root.kind == .object)
        #expect(root.count == 6)
        #expect(root["roomId"]?.string == "r1")
        #expect(root["transform"]?["rotation"]?.double == 12.5)
        #expect(root["transform"]?["scaleX"]?.double == -1.25)
        #expect(root["gesture"]?.integer == 7)
        #expect(root["missing"] == nil)
        #expect(root["roomId"]?["x"] == nil)
        #expect(root.members.map(\.key.string) == ["roomId", "elementId", "transform", "positionX", "list", "gesture"])
        let list = try #require(root["list"])
        #expect(list.elements.map(\.kind) == [.number, .string, .array, .object, .null, .bool, .bool])
        #expect(list.elements.map(\.bool) == [nil, nil, nil, nil, nil, true, false])
        #expect(list.count == 7)
        #expect(Array(list.members.map(\.key.string)).isEmpty)
        #expect(Array(root.elements.map(\.kind)).isEmpty)
    }

    @Test func theRawTextOfAValueIsWhatWasSent() throws {
        let root = try parsed("  { \"a\" : [ 1 , \"x\\n\" ] , \"b\" : -1.50e+1 , \"c\":{ } }  ")
        func raw(_ key: String) -> String? { root[key].map { String(decoding: $0.rawBytes, as: UTF8.self) } }
        #expect(raw("a") == "[ 1 , \"x\\n\" ]")
        #expect(raw("b") == "-1.50e+1")
        #expect(raw("c") == "{ }")
        #expect(root.rawBytes.first == UInt8(ascii: "{"))
        #expect(root.rawBytes.last == UInt8(ascii: "}"))
    }

    @Test func escapesAreDecodedKeysToo() throws {
        let root = try parsed(#"{"\u0061\t":"\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00é😀"}"#)
        let value = try #require(root["a\t"])
        #expect(value.string == "\"\\/\u{8}\u{C}\n\r\tAé€😀é😀")
        #expect(value.stringByteCount == value.string?.utf8.count)
        #expect(value.isString("\"\\/\u{8}\u{C}\n\r\tAé€😀é😀"))
        #expect(try parsed("\"plain\"").stringByteCount == 5)
        #expect(try parsed("\"plain\"").isString("plain" as StaticString))
        #expect(try !parsed("\"plain\"").isString("plaim" as StaticString))
        #expect(try !parsed("1").isString("1" as StaticString))
    }

    @Test func namesAreComparedBytewise() throws {
        let root = try parsed("{\"e\u{301}\":1}")
        #expect(root["\u{E9}"] == nil)
        #expect(root["e\u{301}"]?.double == 1)
    }

    @Test func aViewKeepsWhatItSeesWhenItsDocumentIsParsedAgain() throws {
        var document = JSONDocument()
        try document.parse("{\"a\":\"first\"}".utf8)
        let first = document.root
        try document.parse("[1,2,3]".utf8)
        #expect(first["a"]?.string == "first")
        #expect(document.root.elements.map(\.double) == [1, 2, 3])
    }

    @Test func beforeAParseAndAfterAFailedOneTheRootIsNull() throws {
        var document = JSONDocument()
        #expect(document.root.isNull)
        #expect(document.root.rawBytes.isEmpty)
        try document.parse("[1]".utf8)
        #expect(throws: JSONError.self) { try document.parse("[1,2".utf8) }
        #expect(document.root.isNull)
        #expect(document.root.count == 0)
        #expect(document.root["a"] == nil)
    }

    @Test func allKindsOfBytesAreAcceptedAsASource() throws {
        var document = JSONDocument()
        let bytes = Array("xx[1]xx".utf8)
        try document.parse(bytes[2..<5])
        #expect(document.root.count == 1)
        try bytes.withUnsafeBytes { try document.parse(UnsafeRawBufferPointer(rebasing: $0[2..<5])) }
        #expect(document.root.count == 1)
        try document.parse(Array(bytes[2..<5].reversed()).reversed())
        #expect(document.root.count == 1)
        #expect(throws: JSONError(reason: .unexpectedEnd, offset: 0)) {
            try document.parse(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    @Test func aTextCutOffAnywhereIsRefused() {
        let bytes = Array(self.message.utf8)
        for count in 0..<bytes.count { #expect(refusal(bytes.prefix(count)) != nil) }
        #expect(refusal(bytes) == nil)
    }

    @Test func aFlippedBitTrapsNothingAndWhatIsStillAcceptedReadsBackTheSame() throws {
        let bytes = Array((self.message + #" "#).utf8) + Array("".utf8)
        var document = JSONDocument()
        for index in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[index] ^= 1 << bit
                guard (try? document.parse(flipped)) != nil else { continue }
                let once = rewritten(document.root)
                #expect(try rewritten(parsed(once)) == once)
            }
        }
    }

    @Test(arguments: [11, 12, 13] as [UInt64])
    func randomBytesOfJSONsOwnAlphabetTrapNothing(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let alphabet = Array("{}[]\",:\\u0123e-+.tfnrl \u{E9}x".utf8)
        var document = JSONDocument()
        var accepted = 0
        for _ in 0..<30_000 {
            let bytes = (0..<Int.random(in: 0..<12, using: &generator)).compactMap { _ in
                alphabet.randomElement(using: &generator)
            }
            guard (try? document.parse(bytes)) != nil else { continue }
            accepted += 1
            let once = rewritten(document.root)
            #expect(try rewritten(parsed(once)) == once, "seed \(seed)")
        }
        #expect(accepted > 0)
    }
}
