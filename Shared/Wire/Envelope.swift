/// What kind of record follows; the number on the wire. Numbers are never reused.
public enum RecordKind: UInt8, Sendable, CaseIterable {
    /// ``Preview``: gateway → coalescer → fan-out → gateway.
    case preview = 1
    /// ``Commit``: gateway → committer.
    case commit = 2
    /// ``CommitResult``: committer → gateway.
    case commitResult = 3
    /// ``Update``: committer → fan-out → gateway.
    case update = 4
    /// ``Join``: gateway → fan-out.
    case join = 5
    /// ``JoinReply``: fan-out → gateway.
    case joinReply = 6
    /// ``Leave``: gateway → fan-out.
    case leave = 7
    /// ``RoomInterest``: gateway → fan-out.
    case roomInterest = 8
    /// ``RoomPosition``: fan-out → gateway.
    case roomPosition = 9
    /// ``Presence``: fan-out → gateway.
    case presence = 10
    /// ``GestureEnd``: gateway → fan-out without a commit, gateway → coalescer with one.
    case gestureEnd = 11
    /// ``GestureEnded``: fan-out → gateway.
    case gestureEnded = 12
    /// ``SessionClaimed``: fan-out → gateway.
    case sessionClaimed = 13
    /// ``RoomRead``: gateway → fan-out.
    case roomRead = 14
    /// ``RoomState``: fan-out → gateway.
    case roomState = 15
    /// ``HistoryRead``: gateway → fan-out.
    case historyRead = 16
    /// ``HistoryReply``: fan-out → gateway.
    case historyReply = 17
    /// ``CommitCredit``: committer → gateway.
    case commitCredit = 20
    /// ``AreaInterest``: gateway → fan-out.
    case areaInterest = 21
    /// ``Awareness``: gateway → fan-out → gateway.
    case awareness = 22
    /// ``RulesNotice``: committer → fan-out.
    case rulesNotice = 24
    /// ``RoomMembers``: fan-out → gateway.
    case roomMembers = 27
    /// ``AnswerWeight``: fan-out → gateway.
    case answerWeight = 28
    /// ``MemberRenamed``: gateway → fan-out.
    case memberRenamed = 29
    /// ``RoomSignal``: gateway → fan-out → gateway.
    case signal = 31
    /// ``InterestReset``: gateway → fan-out.
    case interestReset = 32
}

/// A record that travels between daemons.
public protocol WireRecord {
    /// Its number on the wire.
    static var kind: RecordKind { get }
    /// Appends its fields.
    func encode(into writer: inout ByteWriter)
    /// Reads its fields; the result is valid only if the reader has not failed. Bytes after the known fields are
    /// ignored: a newer peer may have added some.
    init(from reader: inout ByteReader)
}

/// Builds one envelope: a batch of records that travels as one ZeroMQ message part.
///
///      0     1     2         3      4          8
///     ┌─────┬─────┬─────────┬──────┬──────────┬────────┬────────┬───
///     │ 'T' │ 'S' │ version │  0   │ count u32│ record │ record │ …
///     └─────┴─────┴─────────┴──────┴──────────┴────────┴────────┴───
///
///      0         1            5
///     ┌─────────┬────────────┬───────────────────
///     │ kind u8 │ length u32 │ fields of the record
///     └─────────┴────────────┴───────────────────
///
/// All integers are little-endian; `length` counts the bytes of the fields. A reader skips unknown kinds and ignores
/// bytes after the fields that it knows, so both can be added without a new version. A change of meaning raises the
/// version; an envelope of another version is rejected as a whole.
public struct EnvelopeWriter: Sendable {
    /// The version that it writes.
    public static let version = WireVersions.spoken.upperBound
    /// The size of an envelope that is full, bytes.
    public static let fullSize = 128 << 10
    static let headerSize = 8
    static let recordHeaderSize = 5

    /// The envelope's bytes, complete after every `append`.
    public var bytes: [UInt8] { self.writer.bytes }
    /// How many records it holds.
    public private(set) var count: UInt32 = 0
    private var writer = ByteWriter()

    /// An empty envelope.
    public init() {
        self.begin()
    }

    /// True when nothing was appended.
    public var isEmpty: Bool { self.count == 0 }
    /// True when it should be sent and followed by another one, so that no message grows too long.
    public var isFull: Bool { self.writer.bytes.count >= Self.fullSize }
    /// The bytes of all records' fields, without headers.
    public var fieldBytes: Int { self.writer.bytes.count - Self.headerSize - Int(self.count) * Self.recordHeaderSize }

    public mutating func append<Record: WireRecord>(_ record: Record) {
        self.append(Record.kind) { record.encode(into: &$0) }
    }

    /// Appends a record of a kind, whose fields are appended by `encode`.
    public mutating func append(_ kind: RecordKind, encode: (inout ByteWriter) -> Void) {
        self.writer.u8(kind.rawValue)
        let lengthAt = self.writer.bytes.count
        self.writer.integer(UInt32(0))
        encode(&self.writer)
        let length = UInt32(truncatingIfNeeded: self.writer.bytes.count - lengthAt - 4)
        self.count += 1
        self.writer.patch(length, at: lengthAt)
        self.writer.patch(self.count, at: 4)
    }

    /// Empties the envelope and keeps its storage.
    public mutating func clear() {
        self.count = 0
        self.begin()
    }

    /// Returns the bytes and starts an empty envelope.
    public mutating func take() -> [UInt8] {
        let bytes = self.writer.bytes
        self.writer.bytes = []
        self.count = 0
        self.begin()
        return bytes
    }

    private mutating func begin() {
        self.writer.bytes.removeAll(keepingCapacity: true)
        self.writer.bytes.append(contentsOf: [UInt8(ascii: "T"), UInt8(ascii: "S"), Self.version, 0, 0, 0, 0, 0])
    }
}

/// Why an envelope was rejected.
public enum EnvelopeError: Error, Equatable, Sendable {
    /// It does not begin with "TS".
    case notAnEnvelope
    /// It is of another version.
    case version(UInt8)
    /// It ends before its records do, or a record's fields are ill-formed.
    case malformed
}

/// Iterates over the records of an envelope.
public struct EnvelopeReader {
    private var reader: ByteReader
    private var left: UInt32

    /// Reads the header. The bytes must stay valid while the reader is used.
    /// - Throws: ``EnvelopeError``
    public init(_ bytes: UnsafeRawBufferPointer) throws(EnvelopeError) {
        var reader = ByteReader(bytes)
        guard reader.u8() == UInt8(ascii: "T"), reader.u8() == UInt8(ascii: "S") else { throw .notAnEnvelope }
        let version = reader.u8()
        guard !reader.failed, WireVersions.spoken.contains(version) else { throw .version(version) }
        _ = reader.u8()
        self.left = reader.integer(UInt32.self)
        guard !reader.failed else { throw .malformed }
        self.reader = reader
    }

    /// The next record's kind and fields; nil at the end. Kinds that this build does not know are skipped.
    /// - Throws: ``EnvelopeError/malformed``
    public mutating func next() throws(EnvelopeError) -> (kind: RecordKind, fields: ByteReader)? {
        while self.left > 0 {
            self.left -= 1
            let kind = self.reader.u8()
            let length = Int(self.reader.integer(UInt32.self))
            // A failed read returns a length of zero, which always fits. Without checking `failed` first, a truncated
            // envelope would pass, and one that claims 2^32 records would keep the reader busy that long.
            guard !self.reader.failed, let fields = self.reader.bytes(length) else { throw .malformed }
            if let kind = RecordKind(rawValue: kind) { return (kind, ByteReader(fields)) }
        }
        return nil
    }

    /// Decodes a record's fields.
    /// - Throws: ``EnvelopeError/malformed``
    public static func decode<Record: WireRecord>(
        _ type: Record.Type = Record.self, _ fields: ByteReader
    ) throws(EnvelopeError) -> Record {
        var fields = fields
        let record = Record(from: &fields)
        guard !fields.failed else { throw .malformed }
        return record
    }
}

/// The wire versions of this build. Every link greets with them.
///
/// A release may add kinds of records, and fields at the end of a record, without a new version: readers skip what they
/// do not know. A change of meaning takes two releases. The first one reads the new version beside the old one, so it
/// speaks two, and gives its ``EnvelopeWriter``s the version that a link has in common with its peer. The second one, when
/// nothing older runs any more, drops the old version.
public enum WireVersions {
    /// The versions that this build reads, and writes to those who speak them.
    public static let spoken: ClosedRange<UInt8> = 3...3

    /// For people: `3`, or `3 to 4`.
    public static var text: String {
        let (oldest, newest) = (self.spoken.lowerBound, self.spoken.upperBound)
        return oldest == newest ? "\(oldest)" : "\(oldest) to \(newest)"
    }
}
