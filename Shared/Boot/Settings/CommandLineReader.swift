/// The action that a command line requests.
package enum DaemonAction: Sendable, Equatable {
    case run
    /// Check the settings, print `ok`, exit.
    case checkConfig
    /// Print every setting's value and source, exit.
    case printConfig
    case help
    case version
}

/// A command line split into flags; pure.
struct CommandLineReader {
    private(set) var action = DaemonAction.run
    private(set) var configPath: String?
    /// Settings in the order given, each at most once.
    private(set) var inputs: [(setting: any SettingDeclaration, text: String)] = []
    private(set) var problems: [SettingProblem] = []
    private var rest: ArraySlice<String>

    private let settings: [any SettingDeclaration]
    private let program: String

    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - program: for the message about an unknown flag.
    init(_ arguments: [String], settings: [any SettingDeclaration], program: String) {
        self.rest = arguments[...]
        self.settings = settings
        self.program = program
        while let argument = self.rest.popFirst() { self.read(argument) }
    }

    private mutating func read(_ argument: String) {
        guard argument.hasPrefix("--") || argument == "-h" else {
            // It may be the second word of a connection string without quotes.
            let isPair = argument.contains("=") || argument.contains("://")
            self.complain(isPair ? ConnectionString.masked(argument) : argument, "is no flag; see --help")
            return
        }
        var name = argument == "-h" ? "help" : String(argument.dropFirst(2))
        var text: String?
        if let equals = name.firstIndex(of: "=") {
            text = String(name[name.index(after: equals)...])
            name = String(name[..<equals])
        }
        if let action = Self.actions[name] {
            if text != nil { self.complain("--\(name)", "takes no value") }
            self.action = action
        } else if name == "config" {
            guard let path = text ?? self.rest.popFirst(), !path.isEmpty else {
                self.complain("--config", "needs the path of a settings file")
                return
            }
            if self.configPath != nil { self.complain("--config", "is given twice") }
            self.configPath = path
        } else if let setting = self.settings.first(where: { $0.name == name }) {
            self.read(setting, text)
        } else {
            self.complain("--\(name)", "is no setting of \(self.program); see --help")
            // The next argument was meant as its value.
            if text == nil, self.rest.first?.hasPrefix("--") == false { self.rest.removeFirst() }
        }
    }

    private mutating func read(_ setting: any SettingDeclaration, _ attached: String?) {
        var text = attached
        if text == nil, let next = self.rest.first, !next.hasPrefix("--") {
            text = self.rest.removeFirst()
        }
        if text == nil, setting.isSwitch { text = "true" }
        guard let text else {
            self.complain(setting.flag, "needs a value: \(setting.allowed)")
            return
        }
        if self.inputs.contains(where: { $0.setting.name == setting.name }) {
            self.complain(setting.flag, "is given twice")
        }
        self.inputs.append((setting, text))
    }

    private mutating func complain(_ subject: String, _ complaint: String) {
        self.problems.append(SettingProblem(subject: subject, complaint: complaint, source: .flag))
    }

    private static let actions: [String: DaemonAction] = [
        "check-config": .checkConfig, "print-config": .printConfig, "help": .help, "version": .version,
    ]
}
