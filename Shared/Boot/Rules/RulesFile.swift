package import Canvas
internal import JSONBytes

extension SharedSettings {
    /// The rules of the element types. Committers clamp commits by them, fan-outs previews, so both need the same.
    package static let rules = Setting<String?>.optionalString(
        "rules",
        "JSON file with the rules of the element types, read again when it changes; by default the built-in rules.")
}

/// The rules at start, and the file in which they may change while the daemon runs.
package struct RulesFile: Sendable, Equatable {
    /// Its path; nil for the built-in rules, which do not change.
    package let path: String?
    package let table: RulesTable
    /// The file from which they were read; nil when it could not be examined.
    package let stamp: FileFacts?

    package static let builtIn = RulesFile(path: nil, table: .defaults, stamp: nil)

    init(path: String?, table: RulesTable, stamp: FileFacts?) {
        self.path = path
        self.table = table
        self.stamp = stamp
    }

    /// Reads a rules file.
    /// - Throws: the reason, with the line if there is one: `line 3, note.maxScale: A scale lies in …`.
    package init(reading path: String) throws(SettingRefusal) {
        // Examined before it is read, so that a change in between is found later.
        let stamp = FileFacts(of: path)
        self.init(path: path, table: try Self.parse(try FileBytes.read(path).get()), stamp: stamp)
    }

    package static func parse(_ bytes: [UInt8]) throws(SettingRefusal) -> RulesTable {
        let root = try JSONValue(ofFile: bytes)
        do { return try RulesTable(json: root) } catch {
            let line = bytes.line(at: root.offset(ofRule: error.field))
            let place = error.field.isEmpty ? "" : ", \(error.field)"
            throw SettingRefusal("line \(line)\(place): \(error.message)")
        }
    }
}

extension SettingValues {
    /// The rules file, or the built-in rules.
    package func rules() throws(SettingProblem) -> RulesFile {
        guard let path = self[SharedSettings.rules] else { return .builtIn }
        do { return try RulesFile(reading: path) } catch {
            throw self.problem(SharedSettings.rules, error.reason)
        }
    }
}

extension JSONValue {
    /// The value of a file that an operator writes.
    /// - Throws: the reason, with the line if there is one.
    init(ofFile bytes: [UInt8]) throws(SettingRefusal) {
        guard !bytes.isEmpty else { throw SettingRefusal("is empty") }
        do { try self.init(parsing: bytes) } catch {
            throw SettingRefusal("line \(bytes.line(at: error.offset)) is no JSON: \(error.reason.rawValue)")
        }
    }

    /// The position of a rule in a rules file, bytes.
    /// - Parameter field: as a refusal names it: `note.maxScale`. A field that is not there is searched for in its
    ///   parents.
    fileprivate func offset(ofRule field: String) -> Int {
        var offset = self.rawBytes.startIndex
        for (type, rules) in self.members where field.isIn(type.string ?? "") {
            offset = type.rawBytes.startIndex
            for (rule, _) in rules.members where field.isIn("\(type.string ?? "").\(rule.string ?? "")") {
                return rule.rawBytes.startIndex
            }
        }
        return offset
    }
}

extension String {
    /// True for a path itself and for everything below it.
    fileprivate func isIn(_ path: String) -> Bool { self == path || self.hasPrefix(path + ".") }
}
