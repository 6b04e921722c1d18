public import Canvas

/// An encoded edit: its kind and its fields. Stages that forward commits need not know the kinds.
///
///     tag u8 │ fields blob │ undo policy │ motion blob, JSON; empty: none
///
/// Tag 0 is a commit that the gateway finally refuses: `refusal │ body hash u64`. It uses up its number, and the
/// refusal is remembered.
public struct EncodedEdit: Equatable, Sendable {
    /// The kind's ``EditTraits/tag``; 0 for a refusal.
    public let tag: UInt8
    public let fields: [UInt8]
    /// How it enters its user's undo stack.
    public var undo = UndoPolicy.entry
    /// The JSON text of its ``Canvas/MotionRequest``; empty: none.
    public var motion: [UInt8] = []

    private static let refusalTag: UInt8 = 0
    var encodedSize: Int { 1 + 4 + self.fields.count + FieldRun.size(of: self.undo) + 4 + self.motion.count }

    public init<Kind: Edit>(_ edit: Kind) {
        var writer = ByteWriter(reserving: 128)
        edit.encode(into: &writer)
        self.tag = Kind.traits.tag
        self.fields = writer.bytes
    }

    /// An edit from untrusted bytes.
    public init(tag: UInt8, fields: [UInt8]) {
        self.tag = tag
        self.fields = fields
    }

    /// A commit that is finally refused.
    /// - Parameter bodyHash: stands for the body, so that a repetition can be distinguished from a changed body.
    public init(refusal: Refusal, bodyHash: UInt64) {
        var writer = ByteWriter(reserving: 96)
        writer.refusal(refusal)
        writer.integer(bodyHash)
        self.tag = Self.refusalTag
        self.fields = writer.bytes
    }

    /// Decodes the edit, which must be of the kind that ``tag`` says.
    /// - Throws: a refusal when the bytes are not a valid encoding of the kind.
    public func decode<Kind: Edit>(_: Kind.Type) throws(Refusal) -> Kind {
        let result = self.fields.withUnsafeBytes { bytes -> Result<Kind, Refusal> in
            var reader = ByteReader(bytes)
            do throws(Refusal) {
                let edit = try Kind(from: &reader)
                return reader.failed || reader.remaining > 0 ? .failure(Self.unreadable) : .success(edit)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The refusal and the hash of the body that it refuses; nil for an edit.
    public var refusal: (refusal: Refusal, bodyHash: UInt64)? {
        guard self.tag == Self.refusalTag else { return nil }
        return self.fields.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            let refusal = reader.refusal()
            let bodyHash = reader.integer(UInt64.self)
            return reader.failed ? (Self.unreadable, FNV1a.hash(self.fields)) : (refusal, bodyHash)
        }
    }

    /// How the eye gets to where it puts elements; nil: at once.
    /// - Throws: a refusal when the text is none of a motion.
    public func motionRequest() throws(Refusal) -> MotionRequest? {
        if self.motion.isEmpty { return nil }
        return try PayloadField.parse(self.motion, field: "motion") { value throws(FieldError) in
            try MotionRequest(value, path: "motion")
        }
    }

    /// The identity of a body with this undo policy and motion. Commits without either keep the hash of their edit.
    public func identity(of bodyHash: UInt64) -> UInt64 {
        let hash = self.undo.identity(of: bodyHash)
        return self.motion.isEmpty ? hash : hash ^ FNV1a.hash(self.motion)
    }

    /// The approximate memory of a commit with this edit, bytes.
    public var weight: Int { 256 + self.fields.count + self.motion.count }

    private static let unreadable = Refusal(.invalid, "The edit cannot be read.")
}

extension FieldRun {
    /// An edit: tag u8, fields blob, undo policy, motion blob. Behind it a record has at most a trace.
    mutating func edit(_ edit: EncodedEdit) {
        self.integer(edit.tag)
        self.integer(UInt32(truncatingIfNeeded: edit.fields.count))
        edit.fields.withUnsafeBytes { self.bytes($0) }
        self.undoPolicy(edit.undo)
        self.integer(UInt32(truncatingIfNeeded: edit.motion.count))
        edit.motion.withUnsafeBytes { self.bytes($0) }
    }
}

extension ByteReader {
    mutating func edit() -> EncodedEdit {
        let tag = self.u8()
        var edit = EncodedEdit(tag: tag, fields: self.blob())
        edit.undo = self.undoPolicy()
        edit.motion = self.blob()
        return edit
    }
}
