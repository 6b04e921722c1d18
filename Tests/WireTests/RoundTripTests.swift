import Testing
import Wire

@Suite struct RoundTripTests {
    @Test(arguments: [UInt64](1...20))
    func randomRecordsComeBack(seed: UInt64) {
        var maker = RecordMaker(seed: seed)
        for step in 0..<300 {
            let record = maker.record()
            let isBack = decodesTheSame(record, encode(record))
            #expect(isBack, "seed \(seed), step \(step)")
        }
    }

    @Test(arguments: [UInt64](1...10))
    func envelopesKeepOrderAndBytes(seed: UInt64) throws {
        var maker = RecordMaker(seed: seed)
        var writer = EnvelopeWriter()
        for step in 0..<20 {
            var expected: [RawRecord] = []
            for _ in 0..<step {
                let record = maker.record()
                writer.append(record)
                expected.append(RawRecord(kind: type(of: record).kind, fields: encode(record)))
            }
            #expect(Int(writer.count) == step)
            try #expect(read(writer.bytes) == expected, "seed \(seed), step \(step)")
            writer.clear()
        }
    }

    @Test func newerFieldsAtTheEndAreIgnored() {
        for record in Samples.all where !(record is Update) {
            let isBack = decodesTheSame(record, encode(record) + [1, 2, 3])
            #expect(isBack)
        }
    }

    @Test func anUpdatePassesNewerFieldsOn() throws {
        let fields = encode(Samples.moved) + [1, 2, 3]
        let update = try decode(Update.self, fields)
        #expect(encode(update) == fields)
        #expect(update.text == Samples.moved.text && update.elements == Samples.moved.elements)
    }

    @Test func unknownKindsAreSkipped() throws {
        var writer = EnvelopeWriter()
        writer.append(Samples.leave)
        let leave = Array(writer.bytes.dropFirst(8))
        for kind in [UInt8(0), 18, 200, 255] {
            let unknown: [UInt8] = [kind, 3, 0, 0, 0, 0xde, 0xad, 0xbe]
            let header: [UInt8] = [0x54, 0x53, EnvelopeWriter.version, 0, 4, 0, 0, 0]
            let records = try read(header + unknown + leave + unknown + leave)
            #expect(records.map(\.kind) == [.leave, .leave])
            #expect(records.allSatisfy { $0.fields == encode(Samples.leave) })
        }
    }

    @Test func recordsPassOnAsTheyCame() throws {
        // With fields of a newer peer at the end.
        let fields = encode(Samples.transform) + [9, 9]
        var writer = EnvelopeWriter()
        writer.append(Samples.leave)
        writer.append(.commit) { $0.bytes.append(contentsOf: fields) }
        writer.append(Samples.leave)
        let records = try read(writer.bytes)
        #expect(records.map(\.kind) == [.leave, .commit, .leave])
        #expect(records.map(\.fields)[1] == fields)
    }

    @Test func longNamesAreCutAndStillRead() throws {
        // A cut through the middle of a character makes the record ill-formed; it never makes the next one so.
        let long = Leave(room: Identifier(String(repeating: "x", count: 70_000)), connection: 5)
        let back = try decode(Leave.self, encode(long))
        #expect(back.room.text.utf8.count == 65_535)
        #expect(back.connection == 5)
    }
}
