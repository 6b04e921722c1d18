// The kinds of settings. The kind parses text (flag, environment); a settings file must use the JSON type.

extension Setting where Value == String {
    /// Any text of 1 to 4096 bytes without control characters.
    package static func string(_ name: String, default fallback: String, _ meaning: String) -> Setting {
        Setting(
            name: name, fallback: fallback, allowed: "text", meaning: meaning,
            read: { SettingText.plain($0) }, render: { $0 })
    }
}

extension Setting where Value == String? {
    /// Text that may be absent (nil).
    package static func optionalString(_ name: String, _ meaning: String) -> Setting {
        Setting(
            name: name, fallback: nil, allowed: "text", meaning: meaning,
            read: { SettingText.plain($0).map(Optional.some) }, render: { $0 ?? "" })
    }

    /// Text that is never printed.
    /// - Parameters:
    ///   - environmentAliases: variables of other programs that are read when ours is not set.
    ///   - masked: the printable form of the value, by default none.
    package static func secret(
        _ name: String, environmentAliases: [String] = [],
        masked: @escaping @Sendable (String) -> String = { _ in "********" },
        _ meaning: String
    ) -> Setting {
        Setting(
            name: name, fallback: nil, allowed: "text", meaning: meaning, isSecret: true,
            environmentAliases: environmentAliases,
            read: { SettingText.plain($0).map(Optional.some) }, render: { $0.map(masked) ?? "" })
    }
}

extension Setting where Value == String? {
    /// A secret that is presented in a field of HTTP: visible characters of ASCII.
    /// - Parameter count: the fewest characters.
    package static func token(_ name: String, atLeast count: Int, _ meaning: String) -> Setting {
        Setting(
            name: name, fallback: nil, allowed: "\(count) to 4096 visible characters of ASCII", meaning: meaning,
            isSecret: true,
            read: { input in
                guard let text = SettingText.plain(input), text.utf8.count >= count else { return nil }
                return text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? .some(text) : nil
            },
            render: { $0 == nil ? "" : "********" })
    }
}

extension Setting where Value == Int {
    package static func int(
        _ name: String, default fallback: Int, in range: ClosedRange<Int>, _ meaning: String
    ) -> Setting {
        Setting(
            name: name, fallback: fallback,
            allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)", meaning: meaning,
            read: { input in SettingText.integer(input).flatMap { range.contains($0) ? $0 : nil } },
            render: { "\($0)" })
    }
}

extension Setting where Value == Int? {
    /// A whole number in a range, or absent (nil).
    package static func optionalInt(_ name: String, in range: ClosedRange<Int>, _ meaning: String) -> Setting {
        Setting(
            name: name, fallback: nil,
            allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)", meaning: meaning,
            read: { input in SettingText.integer(input).flatMap { range.contains($0) ? Optional.some($0) : nil } },
            render: { $0.map { "\($0)" } ?? "" })
    }
}

extension Setting where Value == Double {
    /// A share of a whole.
    package static func share(_ name: String, default fallback: Double, _ meaning: String) -> Setting {
        Setting(
            name: name, fallback: fallback, allowed: "a number from 0 to 1", meaning: meaning,
            read: { input in SettingText.decimal(input).flatMap { (0...1).contains($0) ? $0 : nil } },
            render: { "\($0)" })
    }
}

extension Setting where Value == Bool {
    /// `true` or `false`; the flag alone means `true`.
    package static func bool(_ name: String, default fallback: Bool, _ meaning: String) -> Setting {
        Setting(
            name: name, fallback: fallback, allowed: "true or false", meaning: meaning, isSwitch: true,
            read: { input in
                switch input {
                case .text("true"), .text("1"), .text("yes"), .text("on"): true
                case .text("false"), .text("0"), .text("no"), .text("off"): false
                case .boolean(let flag): flag
                case .text, .string, .number, .list, .other: nil
                }
            },
            render: { "\($0)" })
    }
}

extension Setting where Value == Duration {
    /// A whole number of milliseconds in a range; the name ends in `-ms`.
    package static func milliseconds(
        _ name: String, default fallback: Int, in range: ClosedRange<Int>, _ meaning: String
    ) -> Setting {
        Setting(
            name: name, fallback: .milliseconds(fallback),
            allowed: "a whole number of milliseconds from \(range.lowerBound) to \(range.upperBound)",
            meaning: meaning,
            read: { input in
                SettingText.integer(input).flatMap { range.contains($0) ? .milliseconds($0) : nil }
            },
            render: { "\($0.components.seconds * 1000 + $0.components.attoseconds / 1_000_000_000_000_000)" })
    }
}

extension Setting where Value == [String] {
    /// A list: comma-separated as text, an array of strings in a file.
    package static func list(_ name: String, default fallback: [String] = [], _ meaning: String) -> Setting {
        Setting(
            name: name, fallback: fallback, allowed: "a list of texts, joined by commas (in the file: an array)",
            meaning: meaning, read: { SettingText.list($0) }, render: { $0.joined(separator: ",") })
    }
}

extension Setting where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the raw values of an enum.
    package static func choice(_ name: String, default fallback: Value, _ meaning: String) -> Setting {
        Setting(
            name: name, fallback: fallback,
            allowed: "one of " + Value.allCases.map(\.rawValue).joined(separator: ", "), meaning: meaning,
            read: { input in SettingText.plain(input).flatMap { Value(rawValue: $0) } }, render: { $0.rawValue })
    }
}

/// Parses the inputs of the kinds.
package enum SettingText {
    /// Text of 1 to 4096 bytes without control characters, nil for anything else.
    package static func plain(_ input: SettingInput) -> String? {
        let text: String
        switch input {
        case .text(let given), .string(let given): text = given
        case .number, .boolean, .list, .other: return nil
        }
        let bytes = text.utf8
        guard (1...4096).contains(bytes.count), !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        return text
    }

    /// An integer in decimal digits, nil for anything else.
    package static func integer(_ input: SettingInput) -> Int? {
        switch input {
        case .text(let text), .number(let text): Int(text)
        case .string, .boolean, .list, .other: nil
        }
    }

    /// A number, nil for anything else.
    package static func decimal(_ input: SettingInput) -> Double? {
        switch input {
        case .text(let text), .number(let text): Double(text)
        case .string, .boolean, .list, .other: nil
        }
    }

    /// The items of a list (at most 1024), trimmed; nil when one is empty.
    package static func list(_ input: SettingInput) -> [String]? {
        let items: [String]
        switch input {
        case .text(let text):
            items = text.split(separator: ",", omittingEmptySubsequences: false).map { item in
                guard let last = item.lastIndex(where: { $0 != " " }) else { return "" }
                return String(item[...last].drop { $0 == " " })
            }
        case .list(let given): items = given
        case .string, .number, .boolean, .other: return nil
        }
        guard items.count <= 1024, items.allSatisfy({ SettingText.plain(.text($0)) != nil }) else { return nil }
        return items
    }
}
