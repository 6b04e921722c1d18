/// Moves secrets from a command line, which every user of the machine can read, into the environment, which only the
/// process's own user can. Pure; ``ProcessSetup/hideSecrets(_:)`` applies it.
package struct SecretArguments: Sendable, Equatable {
    /// The flags that carry secrets (`--jwt-secret`), with the variables that mean the same.
    private let variables: [String: String]

    /// The flags of the secret ones among these settings, and of others.
    package init(of settings: [any SettingDeclaration], and others: [String: String] = [:]) {
        let secrets = settings.filter(\.isSecret).map { ($0.flag, $0.environmentVariable) }
        self.variables = others.merging(secrets) { _, own in own }
    }

    /// Separates the secrets from the other arguments.
    /// - Parameter arguments: without the program's name.
    /// - Returns: the arguments that are left, and the variables to set; nil when no secret stands among them. A flag
    ///   that is given twice, or without a value, is left to the program, which refuses it.
    package func separated(_ arguments: [String]) -> (arguments: [String], environment: [String: String])? {
        var environment: [String: String] = [:]
        var others: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let flag = String(argument.prefix { $0 != "=" })
            guard let variable = self.variables[flag] else {
                others.append(argument)
                continue
            }
            var value: String?
            if flag.utf8.count < argument.utf8.count {
                value = String(argument.dropFirst(flag.count + 1))
            } else if rest.first?.hasPrefix("--") == false {
                value = rest.popFirst()
            }
            guard let value, !value.isEmpty, environment[variable] == nil else { return nil }
            environment[variable] = value
        }
        return environment.isEmpty ? nil : (others, environment)
    }
}
