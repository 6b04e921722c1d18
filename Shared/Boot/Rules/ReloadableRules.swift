package import Canvas
internal import JSONBytes

/// The rules in force, and what becomes of them when their file is read again.
package struct ReloadableRules: Sendable {
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

extension RulesTable {
    /// Each rule that differs from an earlier table, such as `photo.maxScale 5 → 4`, in the order of the types' names.
    package func changes(since earlier: RulesTable) -> [String] {
        let (old, new) = (earlier.json, self.json)
        var changes: [String] = []
        for (key, rules) in new.members {
            let type = key.string ?? ""
            // A type that was not listed had the rules of all others.
            let former = old[type] ?? old["*"]
            for (rule, value) in rules.members {
                let name = rule.string ?? ""
                guard let was = former?[name], !was.rawBytes.elementsEqual(value.rawBytes) else { continue }
                changes.append("\(type).\(name) \(was.text) → \(value.text)")
            }
        }
        for (key, _) in old.members where new[key.string ?? ""] == nil {
            changes.append("\(key.string ?? "") is not listed any more")
        }
        return changes
    }

    private var json: JSONValue {
        var writer = JSONWriter()
        self.encode(into: &writer)
        var document = JSONDocument()
        // A file may have as many types as the limits allow, and the built-in ones are added to them.
        var limits = JSONLimits.default
        limits.keysPerObject *= 2
        try? document.parse(writer.bytes, limits: limits)
        return document.root
    }
}

extension JSONValue {
    fileprivate var text: String { String(decoding: self.rawBytes, as: UTF8.self) }
}
