import Testing
import Wire

/// Whatever bytes come in, a reader neither traps nor takes memory that the bytes do not justify.
@Suite struct HostileBytesTests {
    @Test func everyTruncationOfARecordIsRefused() {
        for record in Samples.all {
            let whole = encode(record)
            for count in 0..<whole.count where !Self.isOlderForm(record, count, of: whole.count) {
                let isRead = decodes(as: record, Array(whole.prefix(count)))
                #expect(!isRead, "\(record) cut to \(count)")
            }
        }
    }

    /// What an older peer sends: a commit without its policy of
    /// undo, a preview without its area, which is ignored unless it is whole, a history without the causes of its entries,
    /// a result without the hash of its body or without the number of elements before it, a refusal without that number,
    /// and any record without its trace, which is ignored unless it is whole.
    private static func isOlderForm(_ record: any WireRecord, _ count: Int, of whole: Int) -> Bool {
        if let update = record as? Update { return update.trace != nil && count >= whole - 16 }
        if let preview = record as? Preview { return !preview.area.isEverywhere && count >= whole - 16 }
        if let commit = record as? Commit {
            var usual = commit
            usual.edit.undo = .entry
            usual.trace = nil
            return count == encode(usual).count - 1 || commit.trace != nil && count >= whole - 16
        }
        if let result = record as? CommitResult {
            return [12, result.refusal == nil ? 8 : 4].contains(whole - count)
        }
        if let history = record as? HistoryReply, case .success(let page) = history.outcome {
            return whole - count == 4 + page.entries.count
        }
        return false
    }

    /// The next number must exist for whoever counts on from one that a peer sent.
    @Test func aNumberBeyondThoseOfTheDatabaseIsRefused() {
        for (seq, isRead) in [(UInt64(Int64.max), true), (UInt64(Int64.max) + 1, false), (.max, false)] {
            let position = Position(epoch: "e", seq: seq)
            let record = RoomPosition(room: "r", position: position, isReset: false)
            #expect(decodes(as: record, encode(record)) == isRead)
            let result = CommitResult(
                room: "r", session: "s", number: seq, connection: 1, refusal: nil, seq: 1, json: [])
            #expect(decodes(as: result, encode(result)) == isRead)
        }
    }

    @Test func everyTruncationOfAnEnvelopeIsRefused() throws {
        let whole = everything()
        try #expect(read(whole).count == Samples.all.count)
        for count in 0..<whole.count {
            #expect(throws: EnvelopeError.self, "cut to \(count)") { try read(Array(whole.prefix(count))) }
        }
    }

    @Test func everyFlippedBitOfARecordIsSurvived() {
        for record in Samples.all {
            let whole = encode(record)
            var different = 0
            for bit in 0..<whole.count * 8 {
                var bytes = whole
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                if !decodesTheSame(record, bytes) { different += 1 }
            }
            // Every bit carries meaning: no flip may pass unseen.
            #expect(different == whole.count * 8)
        }
    }

    @Test func everyFlippedBitOfAnEnvelopeIsSurvived() {
        let whole = everything()
        for bit in 0..<whole.count * 8 {
            var bytes = whole
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let records = try? read(bytes) else { continue }
            #expect(records.count <= Samples.all.count || bit / 8 == 4)
        }
    }

    @Test(arguments: [UInt64](1...10))
    func randomBytesAreSurvived(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0..<200, using: &random)).map { _ in
                // Mostly small values: lengths that fit lead deeper into a decoder than lengths that do not.
                Bool.random(using: &random) ? UInt8.random(in: 0..<4, using: &random) : UInt8(random.next() & 0xff)
            }
            for record in Samples.all { _ = decodes(as: record, bytes) }
            _ = try? read([0x54, 0x53, EnvelopeWriter.version, 0, 3, 0, 0, 0] + bytes)
        }
    }

    @Test func aLyingCountTakesNoMemory() {
        // Four billion updates announced, none there: refused before anything is reserved.
        var writer = ByteWriter()
        writer.list([UpdatedElement]()) { _, _ in }
        #expect(writer.bytes == [0, 0, 0, 0])
        for count in [UInt32.max, 1 << 31, 1_000_000] {
            var bytes = encode(Samples.moved)
            let at = bytes.count - (3 + 8 + 1 + 8) - 4
            withUnsafeBytes(of: count.littleEndian) { for index in 0..<4 { bytes[at + index] = $0[index] } }
            #expect(throws: EnvelopeError.malformed) { try decode(Update.self, bytes) }
        }
        // A blob of four gigabytes announced in a record of a few bytes.
        var blob = encode(Samples.gestureEnded)
        for index in 0..<4 { blob[blob.count - 6 + index] = 0xff }
        #expect(throws: EnvelopeError.malformed) { try decode(GestureEnded.self, blob) }
        // An envelope that promises four billion records.
        #expect(throws: EnvelopeError.malformed) {
            try read([0x54, 0x53, EnvelopeWriter.version, 0, 0xff, 0xff, 0xff, 0xff])
        }
        // A record that promises four gigabytes.
        #expect(throws: EnvelopeError.malformed) {
            try read([0x54, 0x53, EnvelopeWriter.version, 0, 1, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 1])
        }
    }

    @Test func anotherVersionIsRefusedWhole() {
        for version in UInt8.min...UInt8.max where version != EnvelopeWriter.version {
            var bytes = everything()
            bytes[2] = version
            #expect(throws: EnvelopeError.version(version)) { try read(bytes) }
        }
    }

    @Test func otherBytesAreNoEnvelope() {
        #expect(throws: EnvelopeError.notAnEnvelope) { try read([]) }
        #expect(throws: EnvelopeError.notAnEnvelope) { try read(Array("GET / HTTP/1.1\r\n\r\n".utf8)) }
        #expect(throws: EnvelopeError.notAnEnvelope) { try read([0x53, 0x54, 1, 0, 0, 0, 0, 0]) }
    }

    @Test func badValuesAreRefused() {
        // Text that is no UTF-8: overlong, surrogate, cut, stray continuation.
        for text in [[0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe6, 0xbc], [0x80]] as [[UInt8]] {
            let bytes = [UInt8(text.count), 0] + text + [5, 0, 0, 0, 0, 0, 0, 0]
            #expect(throws: EnvelopeError.malformed) { try decode(Leave.self, bytes) }
        }
        // Numbers that are not finite.
        for pattern in [Double.nan.bitPattern, Double.infinity.bitPattern, (-Double.infinity).bitPattern] {
            var writer = ByteWriter()
            writer.bytes = Array(encode(Samples.preview).dropLast(8))
            writer.integer(pattern)
            #expect(throws: EnvelopeError.malformed) { try decode(Preview.self, writer.bytes) }
        }
        // The mask of a preview's rare parts: none, unknown ones, and a value that is not finite.
        let delta = encode(Samples.delta)
        for mask in [UInt8(0), 0x60, 0xe0] {
            var bytes = delta
            bytes[bytes.count - 57] = mask
            #expect(throws: EnvelopeError.malformed) { try decode(Preview.self, bytes) }
        }
        var infinite = ByteWriter()
        infinite.bytes = Array(delta.dropLast(8))
        infinite.double(.infinity)
        #expect(throws: EnvelopeError.malformed) { try decode(Preview.self, infinite.bytes) }
        // A commit's fields have no rare parts.
        var transform = encode(Samples.transform)
        transform[transform.count - 40] |= 0x80
        let commit = try? decode(Commit.self, transform)
        #expect(throws: Refusal.self) { try commit?.edit.decode(TransformElement.self) }
        // Enumerations outside their range: an event, a shard, a flag.
        var update = encode(Samples.moved)
        update[0] = 64
        #expect(throws: EnvelopeError.malformed) { try decode(Update.self, update) }
        update = encode(Samples.moved)
        for event in [UInt8(0), 9, 0xc1, 255] {
            update[1] = event
            #expect(throws: EnvelopeError.malformed) { try decode(Update.self, update) }
        }
        var position = encode(Samples.position)
        position[position.count - 1] = 2
        #expect(throws: EnvelopeError.malformed) { try decode(RoomPosition.self, position) }
    }
}

/// One envelope with every sample.
private func everything() -> [UInt8] {
    var writer = EnvelopeWriter()
    for record in Samples.all { writer.append(record) }
    return writer.bytes
}
