import Canvas
import Glibc
import Wire

@testable import Mesh
@testable import Postgres

/// Envelopes, and the fields of each kind of record: what is read comes back when it is written and read again.
@Sendable func fuzzWire(_ input: UnsafeRawBufferPointer) {
    if var reader = try? EnvelopeReader(input) {
        while let record = try? reader.next() { check(record.kind, record.fields) }
    }
    // Without the envelope the fuzzer gets deeper: the first byte is the kind.
    guard let first = input.first, let kind = RecordKind(rawValue: first) else { return }
    check(kind, ByteReader(UnsafeRawBufferPointer(rebasing: input.dropFirst())))
}

private func check(_ kind: RecordKind, _ fields: ByteReader) {
    switch kind {
    case .preview: check(Preview.self, fields)
    case .awareness: check(Awareness.self, fields)
    case .signal: check(RoomSignal.self, fields)
    case .commit:
        check(Commit.self, fields)
        guard let edit = try? EnvelopeReader.decode(Commit.self, fields).edit else { return }
        _ = (edit.refusal, edit.soleElement, edit.bodyHash)
        allEdits.check(edit)
    case .commitResult: check(CommitResult.self, fields)
    case .update: check(Update.self, fields)
    case .join: check(Join.self, fields)
    case .joinReply: check(JoinReply.self, fields)
    case .leave: check(Leave.self, fields)
    case .roomInterest: check(RoomInterest.self, fields)
    case .areaInterest: check(AreaInterest.self, fields)
    case .memberRenamed: check(MemberRenamed.self, fields)
    case .roomPosition: check(RoomPosition.self, fields)
    case .presence: check(Presence.self, fields)
    case .roomMembers: check(RoomMembers.self, fields)
    case .gestureEnd: check(GestureEnd.self, fields)
    case .gestureEnded: check(GestureEnded.self, fields)
    case .sessionClaimed: check(SessionClaimed.self, fields)
    case .roomRead: check(RoomRead.self, fields)
    case .roomState: check(RoomState.self, fields)
    case .answerWeight: check(AnswerWeight.self, fields)
    case .historyRead: check(HistoryRead.self, fields)
    case .historyReply: check(HistoryReply.self, fields)
    case .commitCredit: check(CommitCredit.self, fields)
    case .rulesNotice: check(RulesNotice.self, fields)
    case .interestReset: check(InterestReset.self, fields)
    }
}

private func check<Record: WireRecord & Equatable>(_ type: Record.Type, _ fields: ByteReader) {
    guard let record = try? EnvelopeReader.decode(type, fields) else { return }
    var writer = ByteWriter()
    record.encode(into: &writer)
    writer.bytes.withUnsafeBytes { bytes in
        do {
            let back = try EnvelopeReader.decode(type, ByteReader(bytes))
            precondition(back == record, "a record does not come back")
        } catch {
            fatalError("refuses its own record: \(error)")
        }
    }
}

extension EditRegistry {
    /// An edit of any kind: what is decoded comes back when it is encoded and decoded again, under the same hash.
    fileprivate func check(_ encoded: EncodedEdit) {
        for kind in repeat (each Kind).self { checkEdit(kind, encoded) }
    }
}

private func checkEdit<Kind: Edit>(_: Kind.Type, _ encoded: EncodedEdit) {
    guard encoded.tag == Kind.traits.tag, let edit = try? encoded.decode(Kind.self) else { return }
    var again = EncodedEdit(edit)
    guard let back = try? again.decode(Kind.self) else { fatalError("refuses its own edit") }
    precondition(EncodedEdit(back) == again, "an edit does not come back")
    (again.undo, again.motion) = (encoded.undo, encoded.motion)
    precondition(again.bodyHash == encoded.bodyHash, "an edit is another one when it comes back")
}

/// One edit of each kind that changes existing elements, beside those of the samples.
private let edits: [EncodedEdit] = {
    var gesture = Gesture()
    gesture.translation = Point(x: 3, y: -4)
    (gesture.scaleX, gesture.scaleY, gesture.rotation) = (2, 0.5, 90)
    var anchored = gesture
    anchored.anchor = Point(x: 0, y: 1)
    anchored.tilt = Point(x: 40, y: -50)
    let fields = TransformFields(positionX: 1, rotation: 90)
    var moved = EncodedEdit(TransformElement(element: "e", fields: fields))
    moved.motion = MotionRequest(.eased(ms: 90, .linear), turn: .cw).jsonText
    return [
        moved,
        EncodedEdit(TransformElements(["e", "f"].map { TransformElement(element: $0, fields: fields) })),
        EncodedEdit(DeleteElements(["e", "f"])),
        EncodedEdit(GestureElement(element: "e", gesture: anchored)),
        EncodedEdit(GestureElements(["e", "f"], pivot: Point(x: 10, y: 20), gesture: gesture)),
        EncodedEdit(PresetElement(element: "e", preset: .flipX)),
    ]
        + [
            (
                "element:animate",
                #"{"elementId":"e","animation":{"ms":300,"tracks":{"scaleX":[{"at":0.5,"value":2}]}}}"#
            ),
            ("elements:animate", #"{"elements":["e","f"],"animation":null,"staggerMs":5}"#),
            ("element:halt", #"{"elementId":"e","fields":["positionX"],"at":5}"#),
            ("elements:halt", #"{"elements":["e","f"]}"#),
            ("element:throw", #"{"elementId":"e","positionX":1,"velocity":{"x":9,"y":1}}"#),
            ("elements:throw", #"{"elements":[{"elementId":"e"}],"velocity":{"x":9,"y":1}}"#),
        ].compactMap { try? EncodedEdit.read($0, $1) }
}()

/// One envelope with all samples, and the fields of each.
func writeWireSeeds(_ folder: String) {
    var envelope = EnvelopeWriter()
    for (index, record) in Samples.all.enumerated() {
        envelope.append(record)
        var writer = ByteWriter()
        writer.u8(type(of: record).kind.rawValue)
        record.encode(into: &writer)
        write(writer.bytes, "\(folder)/record-\(index)")
    }
    write(envelope.bytes, "\(folder)/envelope")
    for edit in edits {
        var commit = Samples.transform
        commit.edit = edit
        var writer = ByteWriter()
        writer.u8(Commit.kind.rawValue)
        commit.encode(into: &writer)
        write(writer.bytes, "\(folder)/edit-\(edit.tag)")
    }
}

private func write(_ bytes: [UInt8], _ path: String) {
    guard let file = fopen(path, "w") else { fatalError("cannot write \(path)") }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
}

/// The first frame of a link of the mesh, and the answer to one of other versions.
@Sendable func fuzzHello(_ input: UnsafeRawBufferPointer) {
    if let refusal = VersionRefusal(input) {
        precondition(refusal.encoded.starts(with: input.prefix(4)), "a refusal does not come back")
    }
    guard let hello = try? Hello(input) else { return }
    precondition(Hello.isValidName(hello.name.utf8), "a name that is none")
    precondition(hello.encoded().elementsEqual(input), "a hello does not come back")
}

private let types: [PostgresType] = [
    .int2, .int4, .int8, .float8, .bool, .text, .json, .varchar, .name, .unknown, .bpchar,
]

/// Values of PostgreSQL; the first byte chooses the type.
@Sendable func fuzzPostgres(_ input: UnsafeRawBufferPointer) {
    guard let first = input.first else { return }
    let bytes = UnsafeRawBufferPointer(rebasing: input.dropFirst())
    let type = types[Int(first) % types.count]
    _ = FieldDecoding.integer(bytes, type)
    _ = FieldDecoding.float8(bytes, type)
    _ = FieldDecoding.bool(bytes, type)
    _ = FieldDecoding.text(bytes, type)
}
