/// The credit of a sender of commits on one link, counted from when the link came up. It only grows: granted credit is
/// never revoked.
///
///     commits u64 │ bytes u64
///
/// A receiver announces the first credit in its greeting, so that a sender knows it from the start. A receiver with an
/// empty greeting is of a release before credits: it accepts commits without limit.
public struct CommitCredit: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.commitCredit

    public var commits: UInt64
    /// The bytes of their records' fields.
    public var bytes: UInt64

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
    /// The greeting with this credit: an envelope with this one record.
    public var greeting: [UInt8] {
        var envelope = EnvelopeWriter()
        envelope.append(self)
        return envelope.take()
    }

    /// Reads a greeting; nil when it contains no credit.
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

public struct CommitLoad: Equatable, Sendable {
    public var commits: Int
    /// The bytes of their records' fields.
    public var bytes: Int

    public init(commits: Int = 0, bytes: Int = 0) {
        self.commits = commits
        self.bytes = bytes
    }

    /// Adds one commit of `size` bytes.
    public mutating func add(_ size: Int) {
        self.commits += 1
        self.bytes += size
    }

    public static func += (lhs: inout CommitLoad, rhs: CommitLoad) {
        lhs.commits += rhs.commits
        lhs.bytes += rhs.bytes
    }

    public static func + (lhs: CommitLoad, rhs: CommitLoad) -> CommitLoad {
        var sum = lhs
        sum += rhs
        return sum
    }
}
