/// Where a daemon finds the instances of a stage.
package enum InstanceSource<Address: InstanceAddress>: Sendable, Hashable {
    /// In its settings.
    case list([Address])
    /// In a file, which may change while the daemon runs: `file:///PATH`.
    case file(String)
    /// In DNS, where the instances are all addresses of a name and have the same port: `dns://HOST:PORT`.
    case name(HostName)

    /// Where the instances stand, for people.
    package var place: String {
        switch self {
        case .list: "the settings"
        case .file(let path): path
        case .name(let name): name.host
        }
    }

    /// True for an empty list.
    package var isEmpty: Bool { self == .list([]) }
}

/// A host name and a port: `dns://HOST:PORT`.
package struct HostName: Sendable, Hashable, CustomStringConvertible {
    /// 1 to 253 letters, digits, dots, dashes and underscores.
    package let host: String
    /// 1 to 65535.
    package let port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Parses `HOST:PORT`.
    init(_ text: Substring) throws(SettingRefusal) {
        let colon = text.lastIndex(of: ":") ?? text.endIndex
        let host = text[..<colon]
        guard colon < text.endIndex, let port = Int(text[text.index(after: colon)...]), (1...65535).contains(port),
            (1...253).contains(host.utf8.count), host.utf8.allSatisfy(Self.isHostByte)
        else {
            throw SettingRefusal("\"dns://\(text)\" needs a host name and a port from 1 to 65535: dns://HOST:PORT")
        }
        self.host = String(host)
        self.port = port
    }

    package var description: String { "dns://\(self.host):\(self.port)" }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension InstanceSource {
    private static var fileScheme: String { "file://" }
    private static var nameScheme: String { "dns://" }

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
            if text.hasPrefix(Self.nameScheme) {
                self = .name(try HostName(text.dropFirst(Self.nameScheme.count)))
                return
            }
        }
        guard let items = SettingText.list(input) else { return nil }
        self = .list(try Address.list(items))
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

extension Setting {
    /// Where a stage's instances are found: a list joined by commas (in a settings file an array), each name once, or a
    /// source that may change while the daemon runs.
    package static func instances<Address: InstanceAddress>(_ name: String, _ meaning: String) -> Setting
    where Value == InstanceSource<Address> {
        Setting(
            name: name, fallback: .list([]),
            allowed:
                "a list of \(Address.form), joined by commas (in the file: an array), or file:///PATH, or dns://HOST:PORT",
            meaning: meaning, read: { (input) throws(SettingRefusal) in try InstanceSource(input) },
            render: { $0.text })
    }
}
