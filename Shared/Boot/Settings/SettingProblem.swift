/// Where a value came from.
package enum SettingSource: Sendable, Equatable, CustomStringConvertible {
    /// The command line.
    case flag
    /// An environment variable of this name.
    case environment(String)
    /// A settings file: its path and the place in it, such as `coalescer.flushIntervalMs`.
    case file(path: String, place: String)
    /// Nobody named it.
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

/// One thing that is wrong with the settings. The text names the setting, the source and what is allowed.
package struct SettingProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The setting, as a flag (`--flush-interval-ms`), or the file's path when the file itself is the problem.
    package let subject: String
    /// What is wrong and what is allowed.
    package let complaint: String
    /// Where the value came from, nil when no source is to blame (a required setting that nobody gave).
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
