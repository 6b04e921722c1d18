/// How a commit enters its user's undo stack in the room.
public enum UndoPolicy: Equatable, Sendable {
    /// As an entry of its own.
    case entry
    /// As part of the newest entry if that has the same group, else as a new entry which later commits may join.
    case group(Identifier)
    /// Not at all, as a change made by a program: both stacks stay as they are.
    case none

    /// The longest name of a group, bytes.
    public static let longestGroup = 64

    /// The identity of a commit's body with this policy. Commits without one keep the hash of their edit.
    public func identity(of bodyHash: UInt64) -> UInt64 {
        var hash = FNV1a()
        switch self {
        case .entry: return bodyHash
        case .none: hash.combine("none".utf8)
        case .group(let name): hash.combine("group \(name.text)".utf8)
        }
        return hash.value ^ bodyHash
    }
}

/// The command that caused an update.
public enum UpdateCause: UInt8, Sendable, CaseIterable {
    case edit = 0
    /// `history:undo`.
    case undo = 1
    /// `history:redo`.
    case redo = 2

    /// Its name in events and in the commit log; nil for an edit.
    public var name: String? {
        switch self {
        case .edit: nil
        case .undo: "undo"
        case .redo: "redo"
        }
    }

    /// The cause of that name in the commit log; nil when there is none of that name.
    public init?(name: String?) {
        guard let cause = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = cause
    }
}

extension FieldRun {
    static func size(of policy: UndoPolicy) -> Int {
        switch policy {
        case .entry, .none: 1
        case .group(let name): 1 + Self.size(of: name)
        }
    }

    /// A policy: its number u8, and the name of a group.
    mutating func undoPolicy(_ policy: UndoPolicy) {
        switch policy {
        case .entry: self.integer(UInt8(0))
        case .none: self.integer(UInt8(1))
        case .group(let name):
            self.integer(UInt8(2))
            self.name(name)
        }
    }
}

extension ByteReader {
    mutating func undoPolicy() -> UndoPolicy {
        switch self.u8() {
        case 0: return .entry
        case 1: return .none
        case 2: return .group(self.name())
        default:
            self.fail()
            return .entry
        }
    }
}
