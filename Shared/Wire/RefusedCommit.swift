/// A commit that the coalescer finally refuses, on its way to the committer, which remembers the refusal. The edit stays as
/// it was: a repetition of a number that was used before gets its first result.
///
///     refusal │ commit
public struct RefusedCommit: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.refusedCommit

    /// Why it is refused; its code is not retriable.
    public var refusal: Refusal
    /// The commit.
    public var commit: Commit

    /// A commit that is finally refused.
    public init(_ commit: Commit, with refusal: Refusal) {
        self.refusal = refusal
        self.commit = commit
    }

    public func encode(into writer: inout ByteWriter) {
        writer.refusal(self.refusal)
        self.commit.encode(into: &writer)
    }

    public init(from reader: inout ByteReader) {
        let refusal = reader.refusal()
        if refusal.code.isRetriable { reader.fail() }
        self.refusal = refusal
        self.commit = Commit(from: &reader)
    }

    /// The fields of a received commit with the refusal in front of them. The commit's own bytes are unchanged, including
    /// fields of a newer gateway that this build does not know.
    public static func fields(refusing commit: ByteReader, with refusal: Refusal) -> [UInt8] {
        var writer = ByteWriter()
        writer.refusal(refusal)
        writer.bytes.append(contentsOf: commit.bytes[commit.offset...])
        return writer.bytes
    }
}
