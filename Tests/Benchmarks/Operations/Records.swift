import Wire

/// A record that is put into envelopes and read out of them.
protocol RecordSample {
    associatedtype Record: WireRecord & Equatable
    static var name: String { get }
    static var record: Record { get }
}

enum PreviewSample: RecordSample {
    static let name = "preview"
    static let record = Sample.preview
}

enum CommitSample: RecordSample {
    static let name = "commit"
    static let record = Sample.commit
}

enum UpdateSample: RecordSample {
    static let name = "update"
    static let record = Sample.update(42)
}

/// As many records stand in one envelope.
private let recordsPerEnvelope = 10

/// One record put into an envelope.
struct Encode<Kind: RecordSample>: Operation {
    static var name: String { "encode-\(Kind.name)" }
    static var perTurn: Int { recordsPerEnvelope }

    private let record = Kind.record
    private var envelope = EnvelopeWriter()
    private let size: Int

    init() {
        self.envelope.append(self.record)
        self.size = self.envelope.fieldBytes * recordsPerEnvelope
    }

    mutating func turn() -> Bool {
        self.envelope.clear()
        for _ in 0..<recordsPerEnvelope { self.envelope.append(self.record) }
        return self.envelope.fieldBytes == self.size
    }
}

/// One record read out of an envelope.
struct Decode<Kind: RecordSample>: Operation {
    static var name: String { "decode-\(Kind.name)" }
    static var perTurn: Int { recordsPerEnvelope }

    private let record = Kind.record
    private let bytes: [UInt8]
    /// The last one that was read.
    private var last = Kind.record

    init() {
        var envelope = EnvelopeWriter()
        for _ in 0..<recordsPerEnvelope { envelope.append(self.record) }
        self.bytes = envelope.bytes
    }

    mutating func turn() -> Bool {
        let count = (try? self.bytes.withUnsafeBytes { try self.read($0) }) ?? 0
        return count == recordsPerEnvelope && self.last == self.record
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) throws(EnvelopeError) -> Int {
        var envelope = try EnvelopeReader(bytes)
        var count = 0
        while let (_, fields) = try envelope.next() {
            self.last = try EnvelopeReader.decode(Kind.Record.self, fields)
            count += 1
        }
        return count
    }
}
