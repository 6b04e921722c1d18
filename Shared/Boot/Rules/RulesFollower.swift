package import Canvas

/// Decides when a rules file is read again, and compares what it contains with the rules in force.
///
///     stamp as read ──► nothing         another stamp ──► wait ──► the same stamp again ──► read
///                                                          ▲ └──── a third stamp ────┐
///                                                          └─────────────────────────┘
///
/// A file is recognized by its stamp: replaced by renaming another one over it, written in place, or behind a symbolic
/// link that now leads elsewhere. It is read only when it did not change between two looks, so that a file that is being
/// written in place is not read halfway.
package struct RulesFollower: Sendable {
    /// What reading the file led to.
    package enum Outcome: Sendable, Equatable {
        /// Other rules are in force now. The changes, one for each rule.
        case changed([String])
        /// It contains the rules that are in force already.
        case unchanged
        /// It is not accepted; the rules in force stay.
        case refused(String)
    }

    /// The rules in force.
    package private(set) var table: RulesTable
    /// The file that was read last, whether it was accepted or not.
    private var read: FileStamp?
    /// Another one that was seen since.
    private var seen: FileStamp??

    /// A follower of the file from which the rules in force come.
    package init(_ file: RulesFile) {
        self.table = file.table
        self.read = file.stamp
    }

    /// The file was examined.
    /// - Parameter stamp: nil when it cannot be examined.
    /// - Returns: true when it is to be read now.
    package mutating func examined(_ stamp: FileStamp?) -> Bool {
        guard stamp != self.read else {
            self.seen = nil
            return false
        }
        defer { self.seen = .some(stamp) }
        return self.seen == .some(stamp)
    }

    /// The file was read.
    /// - Parameters:
    ///   - result: its rules, or why it is refused.
    ///   - stamp: the file before it was read.
    package mutating func read(_ result: Result<RulesTable, SettingRefusal>, from stamp: FileStamp?) -> Outcome {
        self.read = stamp
        self.seen = nil
        switch result {
        case .failure(let refusal): return .refused(refusal.reason)
        case .success(let table):
            let changes = table.changes(since: self.table)
            self.table = table
            return changes.isEmpty ? .unchanged : .changed(changes)
        }
    }
}
