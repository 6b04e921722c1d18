/// Resolves every setting: flag, environment variable, settings file, default, in that order. Pure: the command line,
/// the environment and the function that reads a file are parameters.
package struct SettingsResolver {
    package private(set) var action = DaemonAction.run
    /// All values; settings with a problem keep their default.
    package private(set) var values: SettingValues
    /// All problems, not only the first, so that an operator can fix a file in one go.
    package private(set) var problems: [SettingProblem] = []

    private let schema: SettingsSchema

    /// Resolves all settings.
    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - environment: an empty variable counts as unset.
    ///   - readFile: returns the bytes of a file, or the reason why it cannot be read.
    package init(
        schema: SettingsSchema, arguments: [String], environment: [String: String],
        readFile: (String) -> Result<[UInt8], SettingRefusal> = { FileBytes.read($0) }
    ) {
        self.schema = schema
        self.values = SettingValues(defaultsOf: schema)
        let line = CommandLineReader(arguments, settings: schema.settings, program: schema.program)
        self.action = line.action
        self.problems = line.problems

        let variable = environment["TOUCHSYNC_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        if let path = line.configPath ?? variable {
            switch readFile(path) {
            case .success(let bytes): self.read(fileAt: path, bytes)
            case .failure(let refusal):
                let source = line.configPath == nil ? SettingSource.environment("TOUCHSYNC_CONFIG") : .flag
                self.problems.append(SettingProblem(subject: path, complaint: refusal.reason, source: source))
            }
        }
        for setting in schema.settings {
            for name in [setting.environmentVariable] + setting.environmentAliases {
                guard let text = environment[name], !text.isEmpty else { continue }
                self.set(.text(text), for: setting, from: .environment(name))
                break
            }
        }
        for (setting, text) in line.inputs { self.set(.text(text), for: setting, from: .flag) }
    }

    /// The daemon's settings, or all problems.
    package mutating func settings<Settings: DaemonSettings>(_ type: Settings.Type) -> Settings? {
        guard self.problems.isEmpty else { return nil }
        do {
            return try Settings(self.values)
        } catch {
            self.problems.append(error)
            return nil
        }
    }

    // MARK: The file

    private mutating func read(fileAt path: String, _ bytes: [UInt8]) {
        let file: SettingsFile
        do {
            file = try SettingsFile(path: path, bytes: bytes)
        } catch {
            self.problems.append(error)
            return
        }
        for (key, input) in file.members["common"] ?? [] {
            let source = SettingSource.file(path: path, place: "common.\(key)")
            if !SharedSettings.common.contains(where: { $0.fileKey == key }) {
                let hint = Self.spelling(of: key, among: SharedSettings.common)
                self.complain(key, "is no setting of the section \"common\"\(hint)", source)
            } else if let setting = self.schema.settings.first(where: { $0.fileKey == key }) {
                self.set(input, for: setting, from: source)
            }
        }
        for (key, input) in file.members[self.schema.section] ?? [] {
            let source = SettingSource.file(path: path, place: "\(self.schema.section).\(key)")
            guard let setting = self.schema.settings.first(where: { $0.fileKey == key }) else {
                let hint = Self.spelling(of: key, among: self.schema.settings)
                self.complain(key, "is no setting of \(self.schema.program)\(hint)", source)
                continue
            }
            self.set(input, for: setting, from: source)
        }
    }

    /// How a file spells the setting that a key names as a flag does.
    private static func spelling(of key: String, among settings: [any SettingDeclaration]) -> String {
        settings.first { $0.name == key }.map { "; a file calls it \"\($0.fileKey)\"" } ?? ""
    }

    private mutating func set(_ input: SettingInput, for setting: any SettingDeclaration, from source: SettingSource) {
        do {
            if let value = try setting.value(of: input) {
                self.values.entries[setting.name] = SettingValues.Entry(value: value, source: source)
            } else {
                let given = setting.isSecret ? "the value given" : input.quoted
                self.complain(setting.flag, "must be \(setting.allowed), not \(given)", source)
            }
        } catch {
            self.complain(setting.flag, error.reason, source)
        }
    }

    private mutating func complain(_ subject: String, _ complaint: String, _ source: SettingSource) {
        self.problems.append(SettingProblem(subject: subject, complaint: complaint, source: source))
    }
}
