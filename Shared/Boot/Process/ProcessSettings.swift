internal import Logging

/// The settings that ``DaemonMain`` itself reads; every daemon has them.
struct ProcessSettings: Sendable {
    var name: String
    var adminHost: String
    var adminPort: Int
    /// Who may see more of this daemon than its health.
    var access: OperatorAccess
    var readyDescriptor: Int32?
    var parentDescriptor: Int32?
    var logFormat: LogFormat
    var logLevel: Logger.Level
    var drainTimeout: Duration
    var user: String?
    var allowsRoot: Bool

    init(_ values: SettingValues) {
        self.name = values[SharedSettings.name(values.schema.section)]
        self.adminHost = values[SharedSettings.adminHost]
        self.adminPort = values[SharedSettings.adminPort]
        self.access = OperatorAccess(token: values[SharedSettings.operatorToken])
        self.readyDescriptor = values[SharedSettings.readyFd].map(Int32.init)
        self.parentDescriptor = values[SharedSettings.parentFd].map(Int32.init)
        self.logFormat = values[SharedSettings.logFormat]
        self.logLevel = values[SharedSettings.logLevel]
        self.user = values[SharedSettings.user]
        self.allowsRoot = values[SharedSettings.allowRoot]
        self.drainTimeout = values[SharedSettings.drainTimeout]
    }
}
