internal import JSONBytes
internal import Stages

/// A daemon that is to be observed.
struct ListedDaemon: Hashable, Sendable {
    let stage: Stage
    /// Unique in its stage.
    let name: String
    /// nil when whoever wrote the list knows that the process does not run.
    let pid: Int?
    /// Where its admin server listens; nil while that is not known.
    let admin: AdminAddress?

    /// What identifies it over restarts.
    var key: Key { Key(stage: self.stage, name: self.name) }

    /// A daemon's stage and name.
    struct Key: Hashable, Sendable {
        let stage: Stage
        let name: String
    }
}

/// The address of an admin server: `http://HOST:PORT`, IPv6 in brackets.
package struct AdminAddress: Hashable, Sendable {
    /// A host name or an IP address, IPv6 without its brackets.
    let host: String
    let port: Int

    /// The value of a Host field (RFC 9110 section 7.2).
    package var authority: String { (self.host.contains(":") ? "[\(self.host)]" : self.host) + ":\(self.port)" }
}

extension AdminAddress {
    /// Parses `http://HOST:PORT`, with or without a slash at the end; nil for anything else.
    package init?(_ url: String) {
        guard url.utf8.count <= 300, url.hasPrefix("http://") else { return nil }
        var authority = url.dropFirst("http://".count)
        if authority.hasSuffix("/") { authority.removeLast() }
        guard let colon = authority.lastIndex(of: ":"),
            let port = UInt16(authority[authority.index(after: colon)...]), port > 0
        else { return nil }
        var host = authority[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }) else {
            return nil
        }
        self.host = String(host)
        self.port = Int(port)
    }
}

/// The list of daemons, as `touchsync up` keeps it in `DATA/run/state.json`; members that are not named here are ignored:
///
///     {"processes":[{"stage":"gateway","name":"gateway-1","pid":123,"http":"http://127.0.0.1:40001"}]}
///
/// A `pid` that is null says that the process does not run. Without the member nothing is known of it.
enum DaemonList {
    /// The daemons that are observed at most; further ones of a list are ignored.
    static let limit = 64
    /// The maximum size of a list, bytes.
    static let maxBytes = 256 << 10

    /// Parses a list.
    /// - Returns: nil when the text is no list.
    static func parse(_ text: [UInt8]) -> [ListedDaemon]? {
        guard text.count <= self.maxBytes, let processes = (try? JSONValue(parsing: text))?["processes"] else {
            return nil
        }
        var known: Set<ListedDaemon.Key> = []
        var daemons: [ListedDaemon] = []
        for entry in processes.elements {
            guard daemons.count < self.limit, let stage = entry["stage"]?.string.flatMap(Stage.init),
                let name = entry["name"]?.string, (1...64).contains(name.utf8.count)
            else { continue }
            let daemon = ListedDaemon(
                stage: stage, name: name, pid: entry["pid"]?.integer.flatMap(Int.init(exactly:)),
                admin: entry["http"]?.string.flatMap(AdminAddress.init))
            if known.insert(daemon.key).inserted { daemons.append(daemon) }
        }
        return daemons
    }
}
