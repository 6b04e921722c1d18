/// Where a daemon finds the instances of a stage.
package enum InstanceSource: Sendable, Hashable {
    /// In its settings.
    case list([PeerAddress])
    /// In a file, which may change while the daemon runs: `file:///PATH`.
    case file(String)
    /// In DNS: `dns://HOST:PORT` or `srv://NAME`.
    case name(DNSName)

    /// Where the instances stand, for people.
    package var place: String {
        switch self {
        case .list: "the settings"
        case .file(let path): path
        case .name(let name): name.host
        }
    }

    package var isEmpty: Bool { self == .list([]) }
}

extension InstanceSource {
    private static let fileScheme = "file://"

    /// Parses a setting's value; nil when it is of another type.
    init?(_ input: SettingInput) throws(SettingRefusal) {
        if let text = SettingText.plain(input) {
            if text.hasPrefix(Self.fileScheme) {
                let path = text.dropFirst(Self.fileScheme.count)
                guard path.hasPrefix("/"), path.utf8.count > 1 else {
                    throw SettingRefusal("\"\(text)\" needs an absolute path: file:///PATH")
                }
                self = .file(String(path))
                return
            }
            if let name = try DNSName(text) {
                self = .name(name)
                return
            }
        }
        guard let items = SettingText.list(input) else { return nil }
        self = .list(try PeerAddress.list(items))
    }

    /// As the setting has it.
    var text: String {
        switch self {
        case .list(let addresses): addresses.map(\.description).joined(separator: ",")
        case .file(let path): Self.fileScheme + path
        case .name(let name): name.description
        }
    }
}

extension Setting where Value == InstanceSource {
    /// Where a stage's instances are found: a list joined by commas (in a settings file an array), each name once, or a
    /// source that may change while the daemon runs.
    package static func instances(_ name: String, _ meaning: String) -> Setting {
        Setting(
            name: name, fallback: .list([]),
            allowed:
                "a list of \(PeerAddress.form), joined by commas (in the file: an array), or file:///PATH, or dns://HOST:PORT, or srv://NAME",
            meaning: meaning, read: { (input) throws(SettingRefusal) in try InstanceSource(input) },
            render: { $0.text })
    }
}
