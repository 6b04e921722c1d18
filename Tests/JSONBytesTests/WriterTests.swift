import JSONBytes
import Testing
import Wire

@Suite("Writer")
struct WriterTests {
    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func commasStandBetweenValuesAndNowhereElse() {
        let text = self.written { writer in
            writer.beginObject()
            writer.key("a")
            writer.beginArray()
            writer.value(1)
            writer.beginArray()
            writer.endArray()
            writer.beginObject()
            writer.endObject()
            writer.null()
            writer.value(true)
            writer.endArray()
            writer.rawMembers([UInt8]())
            writer.rawMembers(Array("\"x\":1,\"y\":2".utf8)[...])
            writer.key(string: "k\"")
            writer.raw("[0]".utf8)
            writer.key("z")
            writer.value("s")
            writer.endObject()
        }
        #expect(text == #"{"a":[1,[],{},null,true],"x":1,"y":2,"k\"":[0],"z":"s"}"#)
        #expect(
            self.written {
                $0.beginObject()
                $0.rawMembers("\"x\":1".utf8)
                $0.endObject()
            } == "{\"x\":1}")
    }

    @Test(
        arguments: [
            (0, "0"), (-0.0, "0"), (1, "1"), (-1, "-1"), (0.5, "0.5"), (-12.25, "-12.25"), (100, "100"),
            (1e15, "1000000000000000"),
            (9_007_199_254_740_992, "9007199254740992"), (0.1 + 0.2, "0.30000000000000004"), (1e-7, "1e-07"),
            (1e300, "1e+300"), (.leastNonzeroMagnitude, "5e-324"),
            (.nan, "null"), (.infinity, "null"), (-.infinity, "null"),
            (-9_007_199_254_740_994, "-9.007199254740994e+15"),
        ] as [(Double, String)])
    func double(_ number: Double, _ text: String) {
        #expect(self.written { $0.value(number) } == text)
    }

    @Test(arguments: [21, 22, 23] as [UInt64])
    func everyDoubleReadsBackToTheBit(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<5000 {
            let bits = generator.next()
            let random = Double(bitPattern: bits)
            for number in [random, Double(Int64(bitPattern: bits)), Double.random(in: -1e6...1e6, using: &generator)]
            where number.isFinite {
                let text = self.written { $0.value(number) }
                #expect(try parsed(text).double == (number == 0 ? 0 : number), "seed \(seed): \(text)")
                #expect(!text.hasSuffix(".0"))
            }
        }
    }

    @Test func integersOfAllLengths() {
        var number: UInt64 = 1
        for _ in 0..<64 {
            for value in [number, number &- 1, .max - number] {
                #expect(self.written { $0.value(value) } == String(value))
                let signed = Int64(bitPattern: value)
                #expect(self.written { $0.value(signed) } == String(signed))
                #expect(self.written { $0.value(Int(signed)) } == String(signed))
            }
            number &*= 2
        }
    }

    @Test(arguments: [31, 32] as [UInt64])
    func stringsAreEscapedAndReadBackTheSame(seed: UInt64) throws {
        #expect(
            self.written { $0.value("a\"b\\c\n\r\t\u{8}\u{C}\u{1}\u{1F}/é😀\u{7F}") }
                == #""a\"b\\c\n\r\t\b\f\u0001\u001f/é😀\#u{7F}""#)
        #expect(self.written { $0.value("") } == "\"\"")
        var generator = SplitMix64(seed: seed)
        for _ in 0..<5000 {
            var string = ""
            for _ in 0..<Int.random(in: 0..<24, using: &generator) {
                let top: UInt32 = Bool.random(using: &generator) ? 0x7F : 0x10FFFF
                if let scalar = Unicode.Scalar(UInt32.random(in: 1...top, using: &generator)) {
                    string.unicodeScalars.append(scalar)
                }
            }
            let read = try parsed(self.written { $0.value(string) })
            #expect(read.string.map { Array($0.utf8) } == Array(string.utf8), "seed \(seed)")
            #expect(read.stringByteCount == string.utf8.count, "seed \(seed)")
            #expect(read.isString(string), "seed \(seed)")
        }
    }

    @Test func aClearedWriterStartsAnewAndKeepsItsRoom() {
        var writer = JSONWriter(reserving: 512)
        writer.value(1)
        writer.clear()
        writer.value(2)
        #expect(writer.bytes == Array("2".utf8))
        #expect(writer.bytes.capacity >= 512)
    }
}
