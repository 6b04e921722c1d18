internal import JSONBytes

/// A settings file: one JSON object with an object per daemon and one for all of them.
///
///     { "common":    { "databaseUrl": "postgresql://…", "logFormat": "json" },
///       "gateway":   { "port": 8080, "pingIntervalMs": 20000 },
///       "coalescer": { "maxEntries": 100000 } }
package struct SettingsFile: Sendable {
    /// The objects that a settings file may have in addition to `common`.
    package static let sections = ["gateway", "coalescer", "committer", "fanout", "monitor"]

    private(set) var members: [String: [(key: String, input: SettingInput)]] = [:]

    /// Parses the file's bytes.
    /// - Parameter path: for messages.
    /// - Throws: a problem that names the file and the byte, or the unknown section.
    package init(path: String, bytes: [UInt8]) throws(SettingProblem) {
        var document = JSONDocument()
        do {
            try document.parse(bytes)
        } catch {
            throw SettingProblem(
                subject: path, complaint: "is no valid JSON at byte \(error.offset): \(error.reason)", source: nil)
        }
        guard document.root.kind == .object else {
            throw SettingProblem(
                subject: path, complaint: "must hold one JSON object with the sections \(Self.known)", source: nil)
        }
        for (key, value) in document.root.members {
            let section = key.string ?? ""
            guard section == "common" || Self.sections.contains(section) else {
                throw SettingProblem(
                    subject: path, complaint: "has no section \"\(section)\"; allowed are \(Self.known)", source: nil)
            }
            guard value.kind == .object else {
                throw SettingProblem(subject: path, complaint: "section \"\(section)\" must be an object", source: nil)
            }
            self.members[section] = value.members.map { (key: $0.string ?? "", input: SettingInput($1)) }
        }
    }

    private static var known: String { (["common"] + self.sections).joined(separator: ", ") }
}

extension SettingInput {
    /// The input from a member of the file.
    init(_ value: JSONValue) {
        switch value.kind {
        case .string: self = .string(value.string ?? "")
        case .number:
            self = .number(value.integer.map(String.init) ?? String(decoding: value.rawBytes, as: UTF8.self))
        case .bool: self = .boolean(value.bool ?? false)
        case .null: self = .other("null")
        case .object: self = .other("an object")
        case .array:
            let items = value.elements.map(\.string)
            self =
                items.contains(nil) ? .other("an array of other things than strings") : .list(items.compactMap(\.self))
        }
    }
}
