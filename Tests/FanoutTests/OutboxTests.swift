import Canvas
import FanoutCore
import FanoutDaemon
import Logging
import Mesh
import Stages
import Testing
import Timing
import Trust
import Wire

/// What is on its way to one gateway, over a link that may be full.
private struct GatewayLine {
    private(set) var gateways: GatewayTable
    private let gateway = GatewayID(1)
    private let peer = PeerID(slot: 1, serial: 1)
    private var isFull = false

    /// - Parameter isBlocked: true for one that has waited since an update.
    init(maxBytes: Int = 10_000, isBlocked: Bool = false) {
        self.gateways = GatewayTable(outboxBytes: maxBytes)
        _ = self.gateways.connect(self.peer, name: "gateway-1")
        if isBlocked { self.block() }
    }

    var isEmpty: Bool { self.gateways.outboxes.isEmpty }
    var bytes: Int { self.gateways.outboxes.bytes }
    var heldPreviews: Int { self.gateways.outboxes.heldPreviews }

    mutating func add(_ records: [GatewayRecord], asForMany: Bool = true) {
        for record in records {
            if asForMany {
                self.gateways.append(record, to: [self.gateway])
            } else {
                self.gateways.append(record, to: self.gateway)
            }
        }
    }

    /// The link does not take an update.
    mutating func block() {
        self.add([GatewayOutboxTests.update(1)])
        self.flush { _ in .wouldBlock }
    }

    /// - Returns: true when the gateway is to hear where its rooms stand.
    mutating func unblock() -> Bool { self.gateways.outboxes.writable(self.gateway) }

    mutating func flush(_ send: ([UInt8]) -> SendResult) {
        self.gateways.flush(at: .start) { envelope, _ in send(envelope.bytes) }
    }

    /// Takes everything out as the records that a gateway reads.
    mutating func drain() throws -> [GatewayRecord] {
        var envelopes: [[UInt8]] = []
        self.flush {
            envelopes.append($0)
            return .sent
        }
        var records: [GatewayRecord] = []
        for envelope in envelopes {
            try envelope.withUnsafeBytes { bytes in
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
}

@Suite struct GatewayOutboxTests {
    fileprivate static func update(_ seq: UInt64, gesture: UInt64 = 0, isDeleted: Bool = false) -> GatewayRecord {
        .update(
            Update(
                shard: 1, gseq: seq, room: "r", seq: seq, event: isDeleted ? .deleted : .transformed, user: "ann",
                sid: "s-ann", number: 0,
                elements: [UpdatedElement(id: "e", json: isDeleted ? [] : Array("{}".utf8), gesture: gesture)]))
    }

    @Test func whileOpenEverythingLeavesInOrder() throws {
        var line = GatewayLine()
        let records = [Self.update(1), .preview(.by()), Self.update(2), .preview(.by())]
        line.add(records)
        #expect(try line.drain() == records)
        #expect(line.isEmpty && line.bytes == 0)
        #expect(try line.drain() == [], "what was sent is not sent again")
    }

    @Test func recordsForOneAreTreatedAsThoseForMany() throws {
        let records = [Self.update(1), .preview(.by()), .preview(.by()), Self.update(2, gesture: 1), .preview(.by())]
        for isBlocked in [false, true] {
            var many = GatewayLine(isBlocked: isBlocked)
            var one = many
            many.add(records)
            one.add(records, asForMany: false)
            #expect(one.heldPreviews == many.heldPreviews && one.bytes == many.bytes)
            let isToTell = (one.unblock(), many.unblock())
            #expect(isToTell == (false, false))
            let (ofOne, ofMany) = (try one.drain(), try many.drain())
            #expect(ofOne == ofMany)
        }
    }

    @Test func aGroupStaysInOneEnvelope() throws {
        var line = GatewayLine()
        let roles = Array(repeating: GroupRole.member, count: 499) + [.last]
        for role in Array(repeating: roles, count: 8).joined() {
            var preview = Preview.by()
            preview.group = role
            line.add([.preview(preview)])
        }
        var lasts: [GroupRole?] = []
        line.flush { bytes in
            lasts.append(
                try? bytes.withUnsafeBytes { bytes in
                    var reader = try EnvelopeReader(bytes)
                    var last: GroupRole?
                    while let (_, fields) = try reader.next() {
                        last = try EnvelopeReader.decode(Preview.self, fields).group
                    }
                    return last
                })
            return .sent
        }
        #expect(lasts.count > 1 && lasts.allSatisfy { $0 == .last })
    }

    @Test func whatALinkDidNotTakeLeavesOnceItTakesAgain() throws {
        var line = GatewayLine()
        line.add([Self.update(1)])
        var offered: [[UInt8]] = []
        line.flush {
            offered.append($0)
            return .wouldBlock
        }
        line.add([Self.update(2)])
        #expect(line.unblock() == false)
        line.flush {
            offered.append($0)
            return .wouldBlock
        }
        #expect(offered.count == 2 && offered[0] == offered[1], "as it was, whatever came since")
        #expect(line.unblock() == false)
        #expect(try line.drain() == [Self.update(1), Self.update(2)])
    }

    @Test func whileBlockedPreviewsAreFoldedAndUpdatesWait() throws {
        var line = GatewayLine(isBlocked: true)
        line.flush { _ in
            Issue.record("offered")
            return .sent
        }
        line.add([
            .preview(.by(showing: TransformFields(positionX: 1))), Self.update(2),
            .preview(.by(showing: TransformFields(positionY: 2))),
            .preview(.by(showing: TransformFields(positionX: 3, positionY: 2))),
            .preview(.by("s-ben", 2, showing: TransformFields(positionX: 9))),
        ])
        #expect(line.unblock() == false)
        let records = try line.drain()
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
        var line = GatewayLine()
        line.add([Self.update(1), .awareness(Self.shown(1)), .awareness(Self.shown(2))])
        line.flush { _ in .wouldBlock }
        line.add([3, 4, nil].map { .awareness(Self.shown($0)) } + [.awareness(Self.shown(9, by: 2))])
        line.add([Self.update(2), .awareness(Self.shown(5))])
        #expect(line.unblock() == false)
        #expect(!line.isEmpty)
        var last = Self.shown(5)
        last.sinceLast = 20
        let records = try line.drain()
        #expect(records.prefix(3) == [Self.update(1), .awareness(Self.shown(1)), .awareness(Self.shown(2))])
        #expect(records.dropFirst(3) == [Self.update(2), .awareness(Self.shown(9, by: 2)), .awareness(last)])
    }

    @Test func signalsDoNotWait() throws {
        let signal = GatewayRecord.signal(
            RoomSignal(room: "r", connection: 1, user: "u", sid: "s", name: "wave", data: []))
        var line = GatewayLine()
        line.add([signal, signal])
        #expect(try line.drain() == [signal, signal])
        #expect(line.gateways.droppedSignals == 0)
        line.block()
        line.add([signal, Self.update(2)])
        line.add([signal], asForMany: false)
        #expect(line.gateways.droppedSignals == 2)
        #expect(line.unblock() == false)
        line.add([signal])
        #expect(try line.drain() == [Self.update(1), Self.update(2), signal])
    }

    /// What hides something is not sent again, so it cannot just be dropped.
    @Test func awarenessBeyondTheBoundEndsTheStreams() throws {
        var line = GatewayLine(maxBytes: 1 << 20, isBlocked: true)
        for connection in UInt64(1)...10_000 { line.add([.awareness(Self.shown(1, by: connection))]) }
        var within = line
        #expect(within.unblock() == false)
        #expect(!within.isEmpty)
        line.add([.awareness(Self.shown(nil, by: 10_001))])
        #expect(line.unblock() == true)
        #expect(line.isEmpty)
    }

    @Test func aFoldedPreviewNeverFollowsTheEndOfItsGesture() throws {
        for end in [
            Self.update(2, gesture: 1), Self.update(2, isDeleted: true),
            .gestureEnded(
                GestureEnded(
                    gesture: GestureEnd(room: "r", element: "e", user: "ann", sid: "s-ann", gesture: 1), seq: 1,
                    json: [])),
        ] {
            var line = GatewayLine(isBlocked: true)
            line.add([.preview(.by(gesture: 1)), .preview(.by(element: "f", gesture: 1)), end])
            _ = line.unblock()
            #expect(try line.drain().previews.map(\.element) == ["f"])
        }
    }

    @Test func aHintThatProvesWrongFoldsOn() throws {
        var line = GatewayLine(isBlocked: true)
        for step in 1...20 {
            line.add([.preview(.by(showing: TransformFields(positionX: Double(step))))])
            _ = line.unblock()
            line.flush { _ in .wouldBlock }
        }
        _ = line.unblock()
        // Between the hint and the attempt nothing overtakes what is folded either.
        line.add([.preview(.by(showing: TransformFields(positionX: 20, positionY: 7))), Self.update(2)])
        let records = try line.drain()
        #expect(records.seqs == [1, 2])
        #expect(records.previews.map(\.fields) == [TransformFields(positionX: 20, positionY: 7)])
        let held = line.heldPreviews
        line.add([.preview(.by())])
        #expect(line.heldPreviews == held)
    }

    @Test func tooMuchIsThrownAwayAndTheGatewayIsTold() throws {
        var line = GatewayLine(maxBytes: 300, isBlocked: true)
        for seq in UInt64(2)...20 { line.add([Self.update(seq)]) }
        #expect(line.bytes == 0)
        line.add([Self.update(21), .preview(.by())])
        #expect(line.isEmpty)
        #expect(line.unblock() == true)
        line.add([Self.update(22)])
        #expect(try line.drain().seqs == [22])
    }

    @Test func keptPreviewsAreBoundedInNumber() throws {
        var line = GatewayLine(isBlocked: true)
        for connection in UInt64(1)...10_009 { line.add([.preview(.by("s", connection))]) }
        #expect(line.unblock() == false)
        #expect(try line.drain().previews.count == 10_000)
    }
}
