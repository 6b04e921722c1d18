/// All settings of one daemon, declared once: the command line, the environment, the settings file and `--help` follow from it.
///
/// Not built on swift-configuration: its readers look up single keys, so they cannot reject misspelt ones, and have no
/// ranges, no help and no list of effective values. Schema, resolver and reports would all remain, on top of it.
package struct SettingsSchema: Sendable {
    /// The daemon's object in the settings file, such as `coalescer`.
    package let section: String
    package let program: String
    /// One sentence for `--help`.
    package let summary: String
    /// The daemon's own settings, then those of every daemon.
    package let settings: [any SettingDeclaration]

    /// - Parameters:
    ///   - section: must be one of ``SettingsFile/sections``.
    ///   - program: such as `touchsync-coalescer`, which is the name by default.
    ///   - settings: the daemon's own; ``SharedSettings/process`` is added.
    package init(
        _ section: String, program: String? = nil, summary: String, _ settings: [any SettingDeclaration]
    ) {
        precondition(SettingsFile.sections.contains(section), "unknown section \(section)")
        self.section = section
        self.program = program ?? "touchsync-\(section)"
        self.summary = summary
        self.settings = settings + SharedSettings.process(section)
        precondition(Set(self.settings.map(\.name)).count == self.settings.count, "a setting is declared twice")
    }

    /// The setting of a name, if it is declared.
    package func setting(named name: String) -> (any SettingDeclaration)? {
        self.settings.first { $0.name == name }
    }
}

/// The requirements of a daemon's settings struct: a schema, and an initialiser from resolved values.
package protocol DaemonSettings: Sendable {
    static var schema: SettingsSchema { get }
    /// Reads the values and checks constraints across several settings; throws ``SettingProblem``.
    init(_ values: SettingValues) throws(SettingProblem)
}

/// The resolved values of a schema's settings, each with its source.
package struct SettingValues: Sendable {
    struct Entry: Sendable {
        var value: any Sendable
        var source: SettingSource
    }

    let schema: SettingsSchema
    var entries: [String: Entry]

    /// All defaults; a test changes what it needs with ``set(_:_:)``.
    package init(defaultsOf schema: SettingsSchema) {
        self.schema = schema
        self.entries = [:]
        for setting in schema.settings {
            self.entries[setting.name] = Entry(value: setting.fallbackValue, source: .fallback)
        }
    }

    /// The value of a setting, which must be declared in the schema.
    package subscript<Value>(_ setting: Setting<Value>) -> Value {
        guard let value = self.entries[setting.name]?.value as? Value else {
            preconditionFailure("\(setting.flag) is not in the schema of \(self.schema.section)")
        }
        return value
    }

    /// The value of a setting without a default.
    /// - Throws: a problem that says how to set it.
    package func required<Value>(_ setting: Setting<Value?>) throws(SettingProblem) -> Value {
        if let value = self[setting] { return value }
        let variables = ([setting.environmentVariable] + setting.environmentAliases).joined(separator: " or ")
        throw SettingProblem(
            subject: setting.flag,
            complaint: "is required: give the flag, the environment variable \(variables), "
                + "or \"\(setting.fileKey)\" in the settings file",
            source: nil)
    }

    package func source(of setting: some SettingDeclaration) -> SettingSource {
        self.entries[setting.name]?.source ?? .fallback
    }

    /// The value, as text, of a setting that the caller knows only by name; nil when it is not declared, or only the
    /// default sets it.
    package func text(ofSetting name: String) -> String? {
        guard let setting = self.schema.setting(named: name), let entry = self.entries[name], entry.source != .fallback
        else { return nil }
        return setting.isSecret ? nil : setting.shown(entry.value)
    }

    /// A problem with a setting's value, with its source; for checks across several settings.
    package func problem(_ setting: some SettingDeclaration, _ complaint: String) -> SettingProblem {
        SettingProblem(subject: setting.flag, complaint: complaint, source: self.source(of: setting))
    }

    /// Sets a value, unchecked.
    package mutating func set<Value>(_ setting: Setting<Value>, _ value: Value) {
        self.entries[setting.name] = Entry(value: value, source: .flag)
    }
}

extension SettingsSchema {
    /// Reads flags that belong to any of several schemas, for a program that passes them on.
    /// - Returns: each given setting and its text, unchecked, and the arguments that are flags of no schema.
    package static func read(
        _ arguments: [String], of schemas: [SettingsSchema]
    ) -> (inputs: [(setting: any SettingDeclaration, text: String)], problems: [SettingProblem]) {
        var union: [any SettingDeclaration] = []
        for setting in schemas.flatMap(\.settings) where !union.contains(where: { $0.name == setting.name }) {
            union.append(setting)
        }
        let line = CommandLineReader(arguments, settings: union, program: "touchsync or its daemons")
        var problems = line.problems
        if line.action != .run || line.configPath != nil {
            problems.append(SettingProblem(subject: "flag", complaint: "must stand alone", source: .flag))
        }
        return (line.inputs, problems)
    }
}
