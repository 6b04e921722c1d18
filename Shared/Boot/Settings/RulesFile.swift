package import Canvas
internal import JSONBytes

extension SharedSettings {
    /// The rules of the element types. Committers clamp commits by them, fan-outs previews, so both need the same.
    package static let rules = Setting<String?>.optionalString(
        "rules", "JSON file with the rules of the element types; by default the built-in rules.")
}

extension SettingValues {
    /// The table in the rules file, or the built-in one.
    package func rules() throws(SettingProblem) -> RulesTable {
        guard let path = self[SharedSettings.rules] else { return .defaults }
        let bytes: [UInt8]
        switch FileBytes.read(path) {
        case .success(let read): bytes = read
        case .failure(let refusal): throw self.problem(SharedSettings.rules, "cannot be read: \(refusal.reason)")
        }
        var document = JSONDocument()
        do { try document.parse(bytes) } catch {
            throw self.problem(SharedSettings.rules, "is no JSON, at byte \(error.offset)")
        }
        do { return try RulesTable(json: document.root) } catch {
            throw self.problem(SharedSettings.rules, "is wrong at \(error.field): \(error.message)")
        }
    }
}
