import Canvas
import Testing
import Wire

/// The bytes of every record, computed from the documented layouts by another program than the encoder.
@Suite struct GoldenTests {
    @Test func previewRecord() throws {
        try check(
            Samples.preview,
            """
            02 00 72 31 02 00 c3 a9 08 07 06 05 04 03 02 01 01 00 75 01 00 73 03 00 00 00 00 00 00 00 09 00
            00 00 00 00 00 00 02 00 00 00 10 00 00 00 0d 00 00 00 00 00 00 f8 3f 00 00 00 00 00 80 56 40 00
            00 00 00 00 00 00 c0
            """)
    }

    @Test func deltaRecord() throws {
        try check(
            Samples.delta,
            """
            02 00 72 31 01 00 65 05 00 00 00 00 00 00 00 01 00 75 01 00 73 03 00 00 00 00 00 00 00 00 00 00
            00 00 00 00 00 01 00 00 00 00 00 00 00 80 35 00 00 00 00 00 00 f0 3f 00 00 00 00 00 00 00 c0 00
            00 00 00 00 00 3e 40 00 00 00 00 00 00 14 40 00 00 00 00 00 00 18 40
            """)
    }

    @Test func locatedRecord() throws {
        try check(
            Samples.located,
            """
            02 00 72 31 01 00 65 05 00 00 00 00 00 00 00 01 00 75 01 00 73 03 00 00 00 00 00 00 00 00 00 00
            00 00 00 00 00 01 00 00 00 00 00 00 00 80 35 00 00 00 00 00 00 f0 3f 00 00 00 00 00 00 00 c0 00
            00 00 00 00 00 3e 40 00 00 00 00 00 00 14 40 00 00 00 00 00 00 18 40 00 00 c0 bf 00 00 00 40 00
            00 40 40 00 00 88 40
            """)
    }

    @Test func previewOnlyRecord() throws {
        try check(
            Samples.previewOnly,
            """
            02 00 72 31 02 00 c3 a9 08 07 06 05 04 03 02 01 01 00 75 01 00 73 03 00 00 00 00 00 00 00 09 00
            00 00 00 00 00 00 02 00 00 00 10 00 00 00 0d 00 00 00 00 00 00 f8 3f 00 00 00 00 00 80 56 40 00
            00 00 00 00 00 00 c0 01
            """)
    }

    @Test func cursorRecord() throws {
        try check(
            Samples.cursor,
            """
            02 00 72 31 00 00 05 00 00 00 00 00 00 00 01 00 75 01 00 73 03 00 00 00 00 00 00 00 00 00 00 00
            00 00 00 00 01 00 00 00 00 00 00 00 03 00 00 00 00 00 00 f8 3f 00 00 00 00 00 80 56 40
            """)
    }

    @Test func selectionRecord() throws {
        try check(
            Samples.selection,
            """
            02 00 72 31 01 00 01 05 00 00 00 00 00 00 00 01 00 75 01 00 73 03 00 00 00 00 00 00 00 00 00 00
            00 00 00 00 00 01 00 00 00 00 00 00 00 00 02 00 00 00 01 00 65 01 00 66
            """)
    }

    @Test func transformRecord() throws {
        try check(
            Samples.transform,
            """
            02 00 72 31 01 00 73 02 00 00 00 07 00 00 00 00 00 00 00 01 01 00 75 05 00 00 00 00 00 00 00 09
            00 67 61 74 65 77 61 79 2d 31 01 00 00 00 01 00 65 04 00 00 00 00 00 00 00 01 24 00 00 00 01 00
            65 72 00 00 00 00 00 00 00 40 00 00 00 00 00 00 e0 3f 00 00 00 00 00 00 24 40 00 00 00 00 00 00
            34 40 00
            """)
    }

    @Test func createRecord() throws {
        try check(
            Samples.create,
            """
            02 00 72 31 03 00 73 2e 31 01 00 00 00 01 00 00 00 00 00 00 00 00 01 00 75 05 00 00 00 00 00 00
            00 01 00 67 00 00 00 00 02 0a 00 00 00 01 00 65 01 02 00 00 00 7b 7d 00
            """)
    }

    @Test func createManyRecord() throws {
        try check(
            Samples.createMany,
            """
            02 00 72 31 03 00 73 2e 31 01 00 00 00 01 00 00 00 00 00 00 00 00 01 00 75 05 00 00 00 00 00 00
            00 01 00 67 00 00 00 00 03 0e 00 00 00 01 00 00 00 01 00 65 00 02 00 00 00 7b 7d 00
            """)
    }

    @Test func updateRecord() throws {
        try check(
            Samples.update,
            """
            02 00 72 31 03 00 73 2e 31 01 00 00 00 01 00 00 00 00 00 00 00 00 01 00 75 05 00 00 00 00 00 00
            00 01 00 67 00 00 00 00 04 16 00 00 00 01 00 65 0f 00 00 00 7b 22 6c 6f 63 6b 65 64 22 3a 74 72
            75 65 7d 00
            """)
    }

    @Test func deleteRecord() throws {
        try check(
            Samples.delete,
            """
            02 00 72 31 03 00 73 2e 31 01 00 00 00 01 00 00 00 00 00 00 00 00 01 00 75 05 00 00 00 00 00 00
            00 01 00 67 00 00 00 00 05 03 00 00 00 01 00 65 00
            """)
    }

    @Test func transformGroupRecord() throws {
        try check(
            Samples.transformMany,
            """
            02 00 72 31 03 00 73 2e 31 01 00 00 00 01 00 00 00 00 00 00 00 00 01 00 75 05 00 00 00 00 00 00
            00 01 00 67 00 00 00 00 06 1c 00 00 00 02 00 00 00 01 00 65 01 00 00 00 00 00 00 f0 3f 01 00 66
            04 00 00 00 00 00 80 56 40 00
            """)
    }

    @Test func deleteGroupRecord() throws {
        try check(
            Samples.deleteMany,
            """
            02 00 72 31 03 00 73 2e 31 01 00 00 00 01 00 00 00 00 00 00 00 00 01 00 75 05 00 00 00 00 00 00
            00 01 00 67 00 00 00 00 07 0a 00 00 00 02 00 00 00 01 00 65 01 00 66 00
            """)
    }

    @Test func gestureRecord() throws {
        try check(
            Samples.gesture,
            """
            02 00 72 31 03 00 73 2e 31 01 00 00 00 01 00 00 00 00 00 00 00 00 01 00 75 05 00 00 00 00 00 00
            00 01 00 67 00 00 00 00 08 3c 00 00 00 01 00 65 00 00 00 00 00 00 f0 3f 00 00 00 00 00 00 00 c0
            00 00 00 00 00 00 f8 3f 00 00 00 00 00 00 f8 3f 00 00 00 00 00 00 3e 40 01 00 00 00 00 00 00 00
            00 00 00 00 00 00 00 f0 3f 00
            """)
    }

    @Test func gestureGroupRecord() throws {
        try check(
            Samples.gestureMany,
            """
            02 00 72 31 03 00 73 2e 31 01 00 00 00 01 00 00 00 00 00 00 00 00 01 00 75 05 00 00 00 00 00 00
            00 01 00 67 00 00 00 00 09 40 00 00 00 01 00 00 00 01 00 65 00 00 00 00 00 00 14 40 00 00 00 00
            00 00 18 40 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 40 00 00 00 00
            00 00 00 40 00 00 00 00 00 00 00 00 00 00
            """)
    }

    @Test func presetRecord() throws {
        try check(
            Samples.preset,
            """
            02 00 72 31 03 00 73 2e 31 01 00 00 00 01 00 00 00 00 00 00 00 00 01 00 75 05 00 00 00 00 00 00
            00 01 00 67 00 00 00 00 0a 0a 00 00 00 01 00 65 05 00 66 6c 69 70 58 00
            """)
    }

    @Test func undoRecord() throws {
        let head = "02 00 72 31 03 00 73 2e 31 01 00 00 00 01 00 00 00 00 00 00 00 00 01 00 75 05 00 00 00 00 00 00"
        try check(Samples.undo, head + " 00 01 00 67 00 00 00 00 0b 00 00 00 00 00")
        try check(Samples.redo, head + " 00 01 00 67 00 00 00 00 0c 00 00 00 00 00")
        let delete = head + " 00 01 00 67 00 00 00 00 05 03 00 00 00 01 00 65"
        try check(Samples.programmatic, delete + " 01")
        try check(Samples.grouped, delete + " 02 04 00 64 72 61 67")
    }

    @Test func refuseRecord() throws {
        try check(
            Samples.refuse,
            """
            02 00 72 31 03 00 73 2e 31 01 00 00 00 01 00 00 00 00 00 00 00 00 01 00 75 05 00 00 00 00 00 00
            00 01 00 67 00 00 00 00 00 1c 00 00 00 01 02 00 6e 6f 01 00 6e 00 00 00 00 00 00 00 00 00 00 00
            00 ed fe 00 00 00 00 00 00 00
            """)
    }

    /// The trace stands behind what an older peer reads, and behind it stands what a newer one may add.
    @Test func tracedRecords() throws {
        let trace = "01 02 03 04 05 06 07 08 11 12 13 14 15 16 17 18"
        try check(Samples.traced, "\(hex(encode(Samples.delete))) \(trace)")
        try check(Samples.tracedUpdate, "\(hex(encode(Samples.moved))) \(trace)")
        let untraced = encode(Samples.delete) + Array(repeating: 0, count: 16) + [1, 2]
        #expect(try decode(Commit.self, untraced) == Samples.delete)
        #expect(try decode(Commit.self, encode(Samples.traced) + [1, 2]) == Samples.traced)
    }

    @Test func appliedRecord() throws {
        try check(
            Samples.applied,
            """
            02 00 72 31 01 00 73 07 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00 0b 00 00 00 00 00 00 00 00
            02 00 00 00 7b 7d 03 00 00 00 ed fe 00 00 00 00 00 00
            """)
        let older = try decode(CommitResult.self, Array(encode(Samples.applied).dropLast(8)))
        #expect(older.elements == 3 && older.bodyHash == 0)
        #expect(try decode(CommitResult.self, Array(encode(Samples.applied).dropLast(12))).elements == 0)
    }

    @Test func refusedRecord() throws {
        try check(
            Samples.refused,
            """
            02 00 72 31 01 00 73 09 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01
            08 01 00 67 00 00 fa 00 00 00 08 00 00 00 00 00 00 00 00 00 00 00 ed fe 00 00 00 00 00 00
            03 00 00 00
            """)
        let older = try decode(CommitResult.self, Array(encode(Samples.refused).dropLast(4)))
        #expect(older.elements == 0 && older.bodyHash == 0xFEED)
    }

    @Test func movedRecord() throws {
        try check(
            Samples.moved,
            """
            3f 64 00 00 00 00 00 00 00 02 00 72 31 0b 00 00 00 00 00 00 00 01 01 00 75 01 00 73 07 00 00 00
            00 00 00 00 08 07 06 05 04 03 02 01 18 17 16 15 14 13 12 11 01 00 00 00 01 00 65 04 00 00 00 00
            00 00 00 02 00 00 00 7b 7d
            """)
    }

    @Test func undoneRecord() throws {
        try check(
            Samples.undone,
            """
            3f 64 00 00 00 00 00 00 00 02 00 72 31 0b 00 00 00 00 00 00 00 47 01 00 75 01 00 73 07 00 00 00
            00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 00 00 00 01 00 61 00 00 00 00 00
            00 00 00 02 00 00 00 7b 7d 01 00 62 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00
            """)
    }

    @Test func joinRecord() throws {
        try check(
            Samples.join,
            """
            01 00 00 00 00 00 00 00 02 00 72 31 05 00 00 00 00 00 00 00 01 00 75 03 00 41 64 61 04 00 23 66
            30 30 03 00 73 2e 78 01 02 00 65 70 0a 00 00 00 00 00 00 00
            """)
    }

    @Test func joinedRecord() throws {
        try check(
            Samples.joined,
            """
            01 00 00 00 00 00 00 00 02 00 72 31 05 00 00 00 00 00 00 00 00 02 00 65 70 0b 00 00 00 00 00 00
            00 00 02 00 00 00 5b 5d 01 00 00 00 01 00 75 03 00 41 64 61 04 00 23 66 30 30 03 00 73 2e 78 01
            00 73 02 00 00 00 07 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
            """)
    }

    @Test func resumedRecord() throws {
        try check(
            Samples.resumed,
            """
            01 00 00 00 00 00 00 00 02 00 72 31 05 00 00 00 00 00 00 00 00 02 00 65 70 0b 00 00 00 00 00 00
            00 01 01 00 00 00 3f 64 00 00 00 00 00 00 00 02 00 72 31 0b 00 00 00 00 00 00 00 01 01 00 75 01
            00 73 07 00 00 00 00 00 00 00 08 07 06 05 04 03 02 01 18 17 16 15 14 13 12 11 01 00 00 00 01 00
            65 04 00 00 00 00 00 00 00 02 00 00 00 7b 7d 00 00 00 00 03 00 73 2e 78 01 00 73 02 00 00 00 07
            00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
            """)
    }

    @Test func notJoinedRecord() throws {
        try check(
            Samples.notJoined,
            """
            01 00 00 00 00 00 00 00 02 00 72 31 05 00 00 00 00 00 00 00 01 0c 01 00 78 00 00 00 00 00 00 00
            00 00 00 00 00 00 00
            """)
    }

    @Test func leaveRecord() throws {
        try check(
            Samples.leave,
            """
            02 00 72 31 05 00 00 00 00 00 00 00
            """)
    }

    @Test func interestRecord() throws {
        try check(
            Samples.interest,
            """
            02 00 72 31 02 00 65 70 0b 00 00 00 00 00 00 00 01 00 00 00 05 00 00 00 00 00 00 00 01 00 75 03
            00 41 64 61 04 00 23 66 30 30 01 01 00 00 00 05 00 00 00 00 00 00 00 02 00 73 31 01 00 00 00 00
            00 00 f8 3f 00 00 00 00 00 00 00 c0 02 00 00 00 01 00 65 02 00 c3 a9 03 00 00 00 00 00 00 00 01
            00 00 00 03 00 00 00
            """)
    }

    @Test func areasRecord() throws {
        try check(
            Samples.areas,
            """
            02 00 72 31
            """)
    }

    @Test func positionRecord() throws {
        try check(
            Samples.position,
            """
            02 00 72 31 02 00 65 70 0b 00 00 00 00 00 00 00 01
            """)
    }

    @Test func presenceRecord() throws {
        try check(
            Samples.presence,
            """
            02 00 72 31 01 01 00 75 03 00 41 64 61 04 00 23 66 30 30 05 00 00 00 00 00 00 00
            """)
    }

    @Test func membersRecord() throws {
        try check(
            Samples.members,
            """
            02 00 72 31 01 00 74 01 00 75 01 01 00 00 00 01 00 75 03 00 41 64 61 04 00 23 66 30 30
            """)
    }

    @Test func gestureEndRecord() throws {
        try check(
            Samples.gestureEnd,
            """
            02 00 72 31 01 00 65 01 00 75 01 00 73 04 00 00 00 00 00 00 00 09 00 00 00 00 00 00 00
            """)
    }

    @Test func gestureEndedRecord() throws {
        try check(
            Samples.gestureEnded,
            """
            02 00 72 31 01 00 65 01 00 75 01 00 73 04 00 00 00 00 00 00 00 0b 00 00 00 00 00 00 00 02 00 00
            00 7b 7d
            """)
    }

    @Test func claimedRecord() throws {
        try check(
            Samples.claimed,
            """
            02 00 72 31 01 00 73 03 00 00 00
            """)
    }

    @Test func readRecord() throws {
        try check(
            Samples.read,
            """
            01 00 00 00 00 00 00 00 02 00 72 31
            """)
    }

    @Test func neverUsedRecord() throws {
        try check(
            Samples.neverUsed,
            """
            01 00 00 00 00 00 00 00 02 00 72 31 00
            """)
    }

    @Test func stateRecord() throws {
        try check(
            Samples.state,
            """
            01 00 00 00 00 00 00 00 02 00 72 31 01 02 00 65 70 0b 00 00 00 00 00 00 00 02 00 00 00 5b 5d
            """)
    }

    @Test func unavailableRecord() throws {
        try check(
            Samples.unavailable,
            """
            01 00 00 00 00 00 00 00 02 00 72 31 02
            """)
    }

    @Test func historyReadRecord() throws {
        try check(
            Samples.historyRead,
            """
            01 00 00 00 00 00 00 00 02 00 72 31 0b 00 00 00 00 00 00 00 32 00
            """)
    }

    @Test func historyRecord() throws {
        try check(
            Samples.history,
            """
            01 00 00 00 00 00 00 00 00 01 00 00 00 0c 00 00 00 00 00 00 00 18 00 32 30 32 36 2d 30 31 2d 30
            32 54 30 33 3a 30 34 3a 30 35 2e 36 37 38 5a 13 00 65 6c 65 6d 65 6e 74 3a 74 72 61 6e 73 66 6f
            72 6d 65 64 01 00 75 01 00 73 07 00 00 00 00 00 00 00 01 00 00 00 01 00 65 00 00 00 00 02 00 00
            00 7b 7d 0c 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00 01 00 00 00 02
            """)
    }

    @Test func aHistoryFromAnOlderPeerHasNoCauses() throws {
        let older = try decode(HistoryReply.self, Array(encode(Samples.history).dropLast(5)))
        #expect(try older.outcome.get().entries.map(\.cause) == [.edit])
    }

    @Test func noHistoryRecord() throws {
        try check(
            Samples.noHistory,
            """
            01 00 00 00 00 00 00 00 01 03 01 00 78 06 00 72 6f 6f 6d 49 64 00 00 00 00 00 00 00 00 00 00 00
            00
            """)
    }

    @Test func envelope() throws {
        var writer = EnvelopeWriter()
        #expect(hex(writer.bytes) == "54 53 02 00 00 00 00 00")
        writer.append(Samples.leave)
        writer.append(Samples.claimed)
        let expected = """
            54 53 02 00 02 00 00 00 07 0c 00 00 00 02 00 72 31 05 00 00 00 00 00 00 00 0d 0b 00 00 00 02 00
            72 31 01 00 73 03 00 00 00
            """
        #expect(hex(writer.bytes) == joined(expected))
        #expect(writer.count == 2)
        let kinds = try read(writer.take()).map(\.kind)
        #expect(kinds == [.leave, .sessionClaimed])
        #expect(writer.isEmpty)
        #expect(hex(writer.bytes) == "54 53 02 00 00 00 00 00")
    }

    @Test func creditRecord() throws {
        let credit = "00 10 00 00 00 00 00 00 00 00 80 00 00 00 00 00"
        try check(Samples.credit, credit)
        try check(Samples.leasingCredit, "\(credit) 01")
    }

    @Test func rulesNotice() throws {
        try check(Samples.rules, "ef cd ab 89 67 45 23 01")
        #expect(RulesTable.defaults.fingerprint == 0xb512_f5c0_b69a_905c)
    }

    @Test func gatheringNotice() throws {
        try check(Samples.gathering, "fa 00")
        // More than a tick is a tick.
        #expect(try decode(GatheringNotice.self, [0xff, 0xff]).level == GatheringNotice.fullLevel)
    }

    @Test func refusedCommit() throws {
        let record = Samples.heldByBen
        let refusal = "05 01 00 6d 0b 00 65 6c 65 6d 65 6e 74 73 5b 33 5d 00 00 00 00 00 00 00 00 00 00 00 00"
        let holder = "03 00 62 65 6e"
        func number(_ value: Int) -> String { "0\(value) 00 00 00 00 00 00 00" }
        try check(record, "\(refusal) \(holder) \(hex(encode(record.commit)))")
        // The coalescer keeps the bytes of a commit as they came, those of a newer gateway too.
        let newer = encode(record.commit) + [1, 2, 3]
        let fields = newer.withUnsafeBytes {
            RefusedCommit.fields(refusing: ByteReader($0), with: record.refusal)
        }
        #expect(fields == encode(record) + [1, 2, 3])
        // In a result the holder, the hash of the body and the elements stand behind what an older peer reads.
        var result = Samples.refused
        result.refusal = record.refusal
        let text = "02 00 72 31 01 00 73 \(number(9)) \(number(5)) \(number(0)) 01 \(refusal) 00 00 00 00 \(holder)"
        try check(result, "\(text) ed fe 00 00 00 00 00 00 03 00 00 00")
        let older = Array(encode(result).dropLast(17))
        #expect(try decode(CommitResult.self, older).refusal?.heldBy == nil)
    }

    @Test func aRefusedCommitIsNeverRetriable() throws {
        let record = RefusedCommit(Samples.heldByBen.commit, with: Refusal(.busy, "m"))
        #expect(throws: EnvelopeError.malformed) { try decode(RefusedCommit.self, encode(record)) }
    }

    @Test func readsThatFollowAnAcknowledgement() throws {
        // The number stands behind what an older peer reads, and is left out when there is none.
        var read = Samples.read
        read.after = 9
        try check(read, hex(encode(Samples.read)) + " 09 00 00 00 00 00 00 00")
        var join = Samples.join
        join.after = 9
        try check(join, hex(encode(Samples.join)) + " 09 00 00 00 00 00 00 00")
    }

    @Test func anAnswerToAJoinFromAnOlderPeerHasNoRules() throws {
        let older = Array(encode(Samples.joined).dropLast(8))
        #expect(try decode(JoinReply.self, older) == Samples.joined)
    }

    @Test func kindNumbersStay() {
        let numbers = RecordKind.allCases.map(\.rawValue)
        #expect(numbers == Array(1...17) + [20, 21, 22, 24, 25, 26, 27])
        #expect(RefusalCode.allCases.map(\.rawValue) == Array(1...12))
        #expect(UpdateEvent.allCases.map(\.rawValue) == Array(1...7))
        #expect(UpdateCause.allCases.map(\.rawValue) == Array(0...2))
        #expect(allEdits.kinds.map(\.tag) == Array(1...12))
        // A record of each kind stands among the samples, so none escapes the checks below.
        #expect(Set(Samples.all.map(\.recordKind)).count == RecordKind.allCases.count)
    }
}

/// Checks both directions: the record gives these bytes, and these bytes give the record.
private func check<Record: WireRecord & Equatable>(_ record: Record, _ expected: String) throws {
    #expect(hex(encode(record)) == joined(expected))
    try #expect(decode(Record.self, bytes(joined(expected))) == record)
}

private func joined(_ lines: String) -> String {
    lines.split(whereSeparator: \.isWhitespace).joined(separator: " ")
}
