package enum SettingSource: Sendable, Equatable, CustomStringConvertible {
    /// The command line.
    case flag
    case environment(String)
    /// A settings file: its path and the position in it, such as `coalescer.pingIntervalMs`.
    case file(path: String, place: String)
    /// The default: no source sets it.
    case fallback

    package var description: String {
        switch self {
        case .flag: "command line"
        case .environment(let name): "environment variable \(name)"
        case .file(let path, let place): "\(path): \(place)"
        case .fallback: "default"
        }
    }
}

/// One problem with the settings. The text names the setting, the source and the allowed values.
package struct SettingProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The setting, as a flag (`--ping-interval-ms`), or the file's path when the file itself is the problem.
    package let subject: String
    /// The problem and the allowed values.
    package let complaint: String
    /// The value's source; nil for a required setting that is missing.
    package let source: SettingSource?

    package init(subject: String, complaint: String, source: SettingSource?) {
        self.subject = subject
        self.complaint = complaint
        self.source = source
    }

    package var description: String {
        if let source { "\(self.subject): \(self.complaint) (\(source))" } else { "\(self.subject): \(self.complaint)" }
    }
}
