import JSONBytes

/// What somebody shows, as texts that can be compared; nil: nothing.
extension AppText {
    /// All that a connection in the answer to a join shows but its cursor, by part.
    static func shown(_ connection: JSONValue) -> [String: String] {
        var shown: [String: String] = [:]
        shown["selection"] = connection["selection"].flatMap(Self.texts)
        shown["state"] = Self.state(connection)
        shown["viewport"] = connection["viewport"].flatMap(Self.viewport)
        return shown
    }

    static func selection(_ data: JSONValue) -> String? { data["elementIds"].flatMap(Self.texts) }

    static func state(_ data: JSONValue) -> String? {
        guard let state = data["state"], state.kind == .object else { return nil }
        return String(decoding: state.rawBytes, as: UTF8.self)
    }

    static func viewport(_ data: JSONValue) -> String? {
        let numbers = ["x", "y", "width", "height"].compactMap { data[$0]?.double }
        return numbers.count == 4 ? numbers.map { "\($0)" }.joined(separator: " ") : nil
    }

    private static func texts(_ array: JSONValue) -> String? {
        let texts = array.children.compactMap(\.string)
        return texts.isEmpty ? nil : texts.joined(separator: " ")
    }
}
