import JSONBytes

/// How an edit is undone.
public struct UndoOptions: Equatable, Sendable {
    /// Whether it can be; true unless said otherwise. One that cannot leaves what can be redone as it is.
    public var undoable: Bool?
    /// Edits of one group that follow each other are undone together; 1–64 bytes.
    public var group: String?

    /// Undone alone, unless said otherwise.
    public init(undoable: Bool? = nil, group: String? = nil) {
        self.undoable = undoable
        self.group = group
    }

    /// Undone alone.
    public static let alone = UndoOptions()
    /// An edit by a program: never undone.
    public static let never = UndoOptions(undoable: false)

    /// Undone together with the edits of its group that follow each other.
    public static func together(_ group: String) -> UndoOptions { UndoOptions(group: group) }

    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("undoable", ifPresent: self.undoable)
        writer.member("undoGroup", ifPresent: self.group)
    }
}
