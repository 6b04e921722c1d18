import Canvas
import FanoutCore
import Testing
import Wire

@Suite struct GatewayOutboxTests {
    private static func update(_ seq: UInt64, gesture: UInt64 = 0, isDeleted: Bool = false) -> GatewayRecord {
        .update(
            Update(
                shard: 1, gseq: seq, room: "r", seq: seq, event: isDeleted ? .deleted : .transformed, user: "ann",
                sid: "s-ann", number: 0,
                elements: [UpdatedElement(id: "e", json: isDeleted ? [] : Array("{}".utf8), gesture: gesture)]))
    }

    private static func add(_ records: [GatewayRecord], to outbox: inout GatewayOutbox) {
        for record in records {
            var writer = ByteWriter()
            record.encode(into: &writer)
            writer.bytes.withUnsafeBytes { outbox.append(record, fields: $0) }
        }
    }

    /// Takes everything out as the records that a gateway reads.
    private static func drain(_ outbox: inout GatewayOutbox) throws -> [GatewayRecord] {
        var records: [GatewayRecord] = []
        while let bytes = outbox.next() {
            outbox.settle(.sent)
            try bytes.withUnsafeBytes { bytes in
                var reader = try EnvelopeReader(bytes)
                while let (kind, fields) = try reader.next() {
                    switch kind {
                    case .update: records.append(.update(try EnvelopeReader.decode(Update.self, fields)))
                    case .preview: records.append(.preview(try EnvelopeReader.decode(Preview.self, fields)))
                    case .awareness: records.append(.awareness(try EnvelopeReader.decode(Awareness.self, fields)))
                    case .signal: records.append(.signal(try EnvelopeReader.decode(RoomSignal.self, fields)))
                    case .gestureEnded:
                        records.append(.gestureEnded(try EnvelopeReader.decode(GestureEnded.self, fields)))
                    default: Issue.record("unexpected \(kind)")
                    }
                }
            }
        }
        return records
    }

    @Test func whileOpenEverythingLeavesInOrder() throws {
        var outbox = GatewayOutbox(maxBytes: 1000)
        let records = [Self.update(1), .preview(.by()), Self.update(2), .preview(.by())]
        Self.add(records, to: &outbox)
        #expect(try Self.drain(&outbox) == records)
        #expect(outbox.isEmpty)
        #expect(outbox.bytes == 0)
    }

    @Test func recordsForOneAreTreatedAsThoseForMany() throws {
        let records = [Self.update(1), .preview(.by()), .preview(.by()), Self.update(2, gesture: 1), .preview(.by())]
        for isBlocked in [false, true] {
            var many = GatewayOutbox(maxBytes: 1000)
            if isBlocked {
                Self.add([Self.update(0)], to: &many)
                _ = many.next()
                many.settle(.blocked)
            }
            var one = many
            Self.add(records, to: &many)
            for record in records { one.append(record) }
            #expect(one.foldedPreviews == many.foldedPreviews && one.bytes == many.bytes)
            #expect(one.unblock() == many.unblock())
            #expect(try Self.drain(&one) == Self.drain(&many))
        }
    }

    @Test func aLargeEnvelopeIsFollowedByAnother() throws {
        var outbox = GatewayOutbox(maxBytes: 1 << 20, envelopeBytes: 100)
        let records = (UInt64(1)...5).map { Self.update($0) }
        Self.add(records, to: &outbox)
        var count = 0
        var copy = outbox
        while copy.next() != nil {
            copy.settle(.sent)
            count += 1
        }
        #expect(count > 1)
        #expect(try Self.drain(&outbox) == records)
    }

    @Test func whatWasSentIsNotSentAgain() throws {
        var outbox = GatewayOutbox(maxBytes: 1000)
        for seq in UInt64(1)...3 {
            Self.add([Self.update(seq)], to: &outbox)
            #expect(try Self.drain(&outbox) == [Self.update(seq)])
            #expect(outbox.isEmpty && outbox.bytes == 0)
        }
    }

    @Test func whatALinkDidNotTakeLeavesOnceItTakesAgain() throws {
        var outbox = GatewayOutbox(maxBytes: 1000)
        Self.add([Self.update(1)], to: &outbox)
        let refused = outbox.next()
        outbox.settle(.blocked)
        Self.add([Self.update(2)], to: &outbox)
        let isBehind = outbox.unblock()
        let offered = outbox.next()
        #expect(!isBehind)
        #expect(refused != nil && offered == refused, "as it was, whatever came since")
        #expect(try Self.drain(&outbox) == [Self.update(1), Self.update(2)])
    }

    @Test func whileBlockedPreviewsAreFoldedAndUpdatesWait() throws {
        var outbox = GatewayOutbox(maxBytes: 10_000)
        Self.add([Self.update(1)], to: &outbox)
        #expect(outbox.next() != nil)
        outbox.settle(.blocked)
        #expect(outbox.next() == nil)
        Self.add(
            [
                .preview(.by(showing: TransformFields(positionX: 1))), Self.update(2),
                .preview(.by(showing: TransformFields(positionY: 2))),
                .preview(.by(showing: TransformFields(positionX: 3, positionY: 2))),
                .preview(.by("s-ben", 2, showing: TransformFields(positionX: 9))),
            ], to: &outbox)
        #expect(outbox.previewCount == 2)
        let isToTell = outbox.unblock()
        #expect(!isToTell)
        let records = try Self.drain(&outbox)
        #expect(records.seqs == [1, 2])
        #expect(
            records.previews.map(\.fields) == [
                TransformFields(positionX: 3, positionY: 2), TransformFields(positionX: 9),
            ])
        #expect(records.previews.first?.folded == 3)
    }

    private static func shown(_ x: Double?, by connection: UInt64 = 1) -> Awareness {
        Awareness(
            room: "r", connection: connection, user: "u", sid: "s", sinceLast: 5,
            value: .cursor(x.map { Point(x: $0, y: 0) }))
    }

    @Test func whileBlockedTheLatestAwarenessOfEachPartWaits() throws {
        var outbox = GatewayOutbox(maxBytes: 1000)
        Self.add([Self.update(1), .awareness(Self.shown(1)), .awareness(Self.shown(2))], to: &outbox)
        _ = outbox.next()
        outbox.settle(.blocked)
        Self.add([3, 4, nil].map { .awareness(Self.shown($0)) } + [.awareness(Self.shown(9, by: 2))], to: &outbox)
        Self.add([Self.update(2), .awareness(Self.shown(5))], to: &outbox)
        #expect(!outbox.unblock() && !outbox.isEmpty)
        var last = Self.shown(5)
        last.sinceLast = 20
        let records = try Self.drain(&outbox)
        #expect(records.prefix(3) == [Self.update(1), .awareness(Self.shown(1)), .awareness(Self.shown(2))])
        #expect(records.dropFirst(3) == [Self.update(2), .awareness(Self.shown(9, by: 2)), .awareness(last)])
    }

    @Test func signalsDoNotWait() throws {
        let signal = GatewayRecord.signal(
            RoomSignal(room: "r", connection: 1, user: "u", sid: "s", name: "wave", data: []))
        var outbox = GatewayOutbox(maxBytes: 1000)
        Self.add([signal, signal], to: &outbox)
        #expect(try Self.drain(&outbox) == [signal, signal] && outbox.droppedSignals == 0)
        Self.add([Self.update(1)], to: &outbox)
        _ = outbox.next()
        outbox.settle(.blocked)
        Self.add([signal, Self.update(2)], to: &outbox)
        #expect(outbox.droppedSignals == 1 && !outbox.unblock())
        Self.add([signal], to: &outbox)
        #expect(try Self.drain(&outbox) == [Self.update(1), Self.update(2), signal])
    }

    /// What hides something is not sent again, so it cannot just be dropped.
    @Test func awarenessBeyondTheBoundEndsTheStreams() throws {
        var outbox = GatewayOutbox(maxBytes: 1 << 20, maxPreviews: 2)
        Self.add([Self.update(1)], to: &outbox)
        _ = outbox.next()
        outbox.settle(.blocked)
        Self.add([.awareness(Self.shown(1)), .awareness(Self.shown(2, by: 2))], to: &outbox)
        #expect(!outbox.hasOverflown)
        Self.add([.awareness(Self.shown(nil, by: 3))], to: &outbox)
        #expect(outbox.hasOverflown && outbox.unblock() && outbox.isEmpty)
    }

    @Test func aFoldedPreviewNeverFollowsTheEndOfItsGesture() throws {
        for end in [
            Self.update(2, gesture: 1), Self.update(2, isDeleted: true),
            .gestureEnded(
                GestureEnded(
                    gesture: GestureEnd(room: "r", element: "e", user: "ann", sid: "s-ann", gesture: 1), seq: 1,
                    json: [])),
        ] {
            var outbox = GatewayOutbox(maxBytes: 10_000)
            Self.add([Self.update(1)], to: &outbox)
            _ = outbox.next()
            outbox.settle(.blocked)
            Self.add([.preview(.by(gesture: 1)), .preview(.by(element: "f", gesture: 1)), end], to: &outbox)
            _ = outbox.unblock()
            #expect(try Self.drain(&outbox).previews.map(\.element) == ["f"])
        }
    }

    @Test func aHintThatProvesWrongFoldsOn() throws {
        var outbox = GatewayOutbox(maxBytes: 10_000)
        Self.add([Self.update(1)], to: &outbox)
        _ = outbox.next()
        outbox.settle(.blocked)
        for step in 1...20 {
            Self.add([.preview(.by(showing: TransformFields(positionX: Double(step))))], to: &outbox)
            _ = outbox.unblock()
            #expect(outbox.next() != nil)
            outbox.settle(.blocked)
        }
        #expect(outbox.previewCount == 1)
        _ = outbox.unblock()
        // Between the hint and the attempt nothing overtakes what is folded either.
        Self.add(
            [.preview(.by(showing: TransformFields(positionX: 20, positionY: 7))), Self.update(2)], to: &outbox)
        let records = try Self.drain(&outbox)
        #expect(records.seqs == [1, 2])
        #expect(records.previews.map(\.fields) == [TransformFields(positionX: 20, positionY: 7)])
        Self.add([.preview(.by())], to: &outbox)
        #expect(outbox.previewCount == 0)
    }

    @Test func tooMuchIsThrownAwayAndTheGatewayIsTold() throws {
        var outbox = GatewayOutbox(maxBytes: 300)
        Self.add([Self.update(1)], to: &outbox)
        _ = outbox.next()
        outbox.settle(.blocked)
        for seq in UInt64(2)...20 { Self.add([Self.update(seq)], to: &outbox) }
        #expect(outbox.hasOverflown)
        #expect(outbox.bytes == 0)
        Self.add([Self.update(21), .preview(.by())], to: &outbox)
        #expect(outbox.isEmpty)
        let isToTell = outbox.unblock()
        #expect(isToTell)
        Self.add([Self.update(22)], to: &outbox)
        #expect(try Self.drain(&outbox).seqs == [22])
    }

    @Test func keptPreviewsAreBoundedInNumber() {
        var outbox = GatewayOutbox(maxBytes: 1000, maxPreviews: 3)
        Self.add([Self.update(1)], to: &outbox)
        _ = outbox.next()
        outbox.settle(.blocked)
        for connection in UInt64(1)...9 { Self.add([.preview(.by("s", connection))], to: &outbox) }
        #expect(outbox.previewCount == 3)
        #expect(outbox.foldedPreviews == 6)
    }
}
