/// One unparsed value of a setting, as its source spelt it.
package enum SettingInput: Sendable, Equatable {
    /// A flag's argument or an environment variable: text that the setting's kind parses.
    case text(String)
    case string(String)
    /// A JSON number of the settings file, verbatim.
    case number(String)
    case boolean(Bool)
    case list([String])
    /// Any other JSON value, named for the message ("an object", "null").
    case other(String)

    /// The value quoted for an error message.
    var quoted: String {
        switch self {
        case .text(let text), .string(let text): "\"\(text)\""
        case .number(let text): text
        case .boolean(let flag): "\(flag)"
        case .list(let items): "[" + items.map { "\"\($0)\"" }.joined(separator: ",") + "]"
        case .other(let kind): kind
        }
    }
}

/// Why a value of the right type, or a file, is rejected; the text completes "NAME: ".
package struct SettingRefusal: Error, Sendable, CustomStringConvertible {
    package let reason: String

    package var description: String { self.reason }

    /// - Parameter reason: a phrase such as `"a" stands twice in the list`.
    package init(_ reason: String) {
        self.reason = reason
    }
}

/// The properties of a setting that the resolver needs, independent of its type.
package protocol SettingDeclaration: Sendable {
    /// The flag without its dashes, such as `ping-interval-ms`; file key and environment variable follow from it.
    var name: String { get }
    /// The allowed values, completing "must be": `a whole number from 1 to 1000`.
    var allowed: String { get }
    /// One line for `--help`.
    var meaning: String { get }
    /// True when the value must never be printed.
    var isSecret: Bool { get }
    /// True when the flag may be used without a value and then means `true`.
    var isSwitch: Bool { get }
    /// Environment variables that are read after the setting's own.
    var environmentAliases: [String] { get }
    /// The value when no source sets one.
    var fallbackValue: any Sendable { get }
    /// The typed value of an input; nil when the input does not match `allowed`. Throws ``SettingRefusal``.
    func value(of input: SettingInput) throws(SettingRefusal) -> (any Sendable)?
    /// A typed value as `--print-config` shows it (secrets are masked).
    func shown(_ value: any Sendable) -> String
}

extension SettingDeclaration {
    /// The flag: `--ping-interval-ms`.
    package var flag: String { "--\(self.name)" }

    /// The key in the settings file: `pingIntervalMs`.
    package var fileKey: String {
        var words = self.name.split(separator: "-").map(String.init)[...]
        let first = words.popFirst() ?? ""
        return first + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The environment variable: `TOUCHSYNC_FLUSH_INTERVAL_MS`.
    package var environmentVariable: String {
        "TOUCHSYNC_" + self.name.uppercased().split(separator: "-").joined(separator: "_")
    }
}

/// A declared setting: its name, type, default, allowed values and one line of help.
///
/// Make one with the factories of `Setting+Kinds.swift`: `Setting.milliseconds("ping-interval-ms", …)`.
package struct Setting<Value: Sendable>: SettingDeclaration {
    package let name: String
    package let allowed: String
    package let meaning: String
    package let isSecret: Bool
    package let isSwitch: Bool
    package let environmentAliases: [String]
    /// The value when no source sets one.
    package let fallback: Value
    private let read: @Sendable (SettingInput) throws(SettingRefusal) -> Value?
    private let render: @Sendable (Value) -> String

    /// A setting of any type.
    /// - Parameters:
    ///   - name: words of lower-case letters and digits joined by single dashes; the unit is its last word.
    ///   - fallback: the default, which is not checked.
    ///   - allowed: completes "must be".
    ///   - read: nil when the input does not match `allowed`; throws for a more specific reason.
    ///   - render: the value as text, for `--print-config`; a secret setting masks itself here.
    package init(
        name: String, fallback: Value, allowed: String, meaning: String, isSecret: Bool = false, isSwitch: Bool = false,
        environmentAliases: [String] = [],
        read: @escaping @Sendable (SettingInput) throws(SettingRefusal) -> Value?,
        render: @escaping @Sendable (Value) -> String
    ) {
        self.name = name
        self.fallback = fallback
        self.allowed = allowed
        self.meaning = meaning
        self.isSecret = isSecret
        self.isSwitch = isSwitch
        self.environmentAliases = environmentAliases
        self.read = read
        self.render = render
    }

    package var fallbackValue: any Sendable { self.fallback }

    package func value(of input: SettingInput) throws(SettingRefusal) -> (any Sendable)? {
        try self.read(input)
    }

    package func shown(_ value: any Sendable) -> String {
        guard let value = value as? Value else { return "" }
        return self.render(value)
    }
}
