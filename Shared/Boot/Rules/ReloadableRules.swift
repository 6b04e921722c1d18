package import Canvas

/// The rules in force, and what becomes of them when their file is read again.
package struct ReloadableRules: Sendable {
    /// What reading the file led to.
    package enum Outcome: Sendable, Equatable {
        /// Other rules are in force now. The changes, one for each rule.
        case changed([String])
        /// It contains the rules that are in force already.
        case unchanged
        /// It is not accepted; the rules in force stay.
        case refused(String)
    }

    package private(set) var table: RulesTable

    /// The rules with which the daemon starts.
    package init(_ table: RulesTable) {
        self.table = table
    }

    /// The file was read.
    /// - Parameter contents: its bytes, or why it cannot be read.
    package mutating func fileRead(_ contents: Result<[UInt8], SettingRefusal>) -> Outcome {
        do throws(SettingRefusal) {
            let table = try RulesFile.parse(try contents.get())
            let changes = table.changes(since: self.table)
            self.table = table
            return changes.isEmpty ? .unchanged : .changed(changes)
        } catch {
            return .refused(error.reason)
        }
    }
}
