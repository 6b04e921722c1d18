/// How much a receiver of commits lets its sender send on one link, counted from the moment when the link came up. It
/// only grows: what was allowed is never taken back.
///
///     commits u64 │ bytes u64
///
/// A receiver says the first one in its greeting, so a sender knows from the start how far it may go. One that greets
/// with nothing is of a release before credits: it takes what comes.
public struct CommitCredit: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.commitCredit

    /// Commits, in number.
    public var commits: UInt64
    /// Bytes of their records' fields.
    public var bytes: UInt64

    /// So many commits of so many bytes.
    public init(commits: UInt64, bytes: UInt64) {
        self.commits = commits
        self.bytes = bytes
    }

    public func encode(into writer: inout ByteWriter) {
        writer.integer(self.commits)
        writer.integer(self.bytes)
    }

    public init(from reader: inout ByteReader) {
        self.commits = reader.integer()
        self.bytes = reader.integer()
    }
}

extension CommitCredit {
    /// The greeting that says it: an envelope with this one record.
    public var greeting: [UInt8] {
        var envelope = EnvelopeWriter()
        envelope.append(self)
        return envelope.take()
    }

    /// What a greeting says; nil when it says nothing of credits.
    public init?(greeting: [UInt8]) {
        let credit = greeting.withUnsafeBytes { bytes -> CommitCredit? in
            guard var reader = try? EnvelopeReader(bytes) else { return nil }
            while let (kind, fields) = try? reader.next() {
                if kind == .commitCredit { return try? EnvelopeReader.decode(CommitCredit.self, fields) }
            }
            return nil
        }
        guard let credit else { return nil }
        self = credit
    }
}
