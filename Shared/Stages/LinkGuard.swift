package import Boot
internal import Logging
package import Mesh
package import ServiceLifecycle
package import Trust

/// The keys of a daemon's links over TCP, and the services that follow the file of its peers. A file that is wrong, or
/// gone, is not accepted: the peers in force stay. The daemon's own key stays the same until it ends: libzmq copies it to
/// a bound socket, which would have to be closed, and peers know a name by one key at a time.
package struct LinkGuard: Sendable {
    /// The keys; nil when the links are plain.
    package let keys: LinkKeys?
    private let files: LinkKeyFiles?

    /// - Parameter files: as they were at start; nil for plain links.
    package init(_ files: LinkKeyFiles?) {
        self.files = files
        self.keys = files.map { LinkKeys(own: $0.own, peers: $0.peers) }
    }

    /// The services that follow the peers file; none for plain links.
    /// - Parameters:
    ///   - role: of the daemon.
    ///   - changed: called on another thread when other peers are in force.
    /// - Throws: when the process has no descriptor left.
    package func services(
        _ context: DaemonContext, role: PeerRole, changed: @escaping @Sendable () -> Void
    ) throws -> [any Service] {
        guard let files = self.files, let keys = self.keys else { return [] }
        let own = OwnKeyNote(
            key: files.own.publicKey, role: role, name: context.name, note: context.health.note("own key"))
        own.review(files.peers)
        let contents = WatchedPeers(
            peers: files.peers, own: own, report: FileReport(files.peersPath, "peers", context)
        ) {
            keys.replace($0)
            changed()
        }
        let path = files.peersPath
        let peers = WatchedFile(path, stamp: files.stamp, contents: contents) {
            LinkKeyFiles.objection(toPeersFile: path, $0)
        }
        let key = WatchedFile(files.ownPath, stamp: files.ownStamp, contents: OwnKeyFile(files, context))
        return try FileWatch.services([peers, key], name: "peers", context)
    }
}

private struct WatchedPeers: WatchedContents {
    var peers: PeerList
    let own: OwnKeyNote
    let report: FileReport
    let adopt: @Sendable (PeerList) -> Void

    mutating func fileRead(_ contents: Result<[UInt8], SettingRefusal>) {
        do throws(SettingRefusal) {
            let peers = try LinkKeyFiles.peers(in: contents)
            guard peers != self.peers else { return self.report.unchanged() }
            self.report.changed([
                "peers.count": "\(peers.entries.count)", "peers.former_count": "\(self.peers.entries.count)",
            ])
            self.peers = peers
            self.own.review(peers)
            self.adopt(peers)
        } catch {
            self.report.refused(error.reason)
        }
    }
}

/// Says when the daemon's own key file has changed: what it contains now counts from the next start on.
private struct OwnKeyFile: WatchedContents {
    private let files: LinkKeyFiles
    private let note: HealthNote
    private let logger: Logger

    init(_ files: LinkKeyFiles, _ context: DaemonContext) {
        self.files = files
        self.note = context.health.note("own key file")
        self.logger = context.logger
    }

    func fileRead(_ contents: Result<[UInt8], SettingRefusal>) {
        let change = self.change
        self.note.say(change)
        guard let change else { return }
        self.logger.warning("own key file changed", metadata: ["reason": "\(change)"])
    }

    /// What is different since the start, if anything is.
    private var change: String? {
        let path = self.files.ownPath
        guard FileFacts(of: path) != self.files.ownStamp else { return nil }
        do throws(SettingRefusal) {
            let own = try LinkKeyFiles.keyPair(at: path)
            return own == self.files.own ? nil : "\(path) has another key, which the daemon uses after a restart"
        } catch {
            return "\(path) has changed, and the daemon would not start with it: \(error.reason)"
        }
    }
}

/// Says when the peers file does not list the daemon itself: on other machines the same file keeps it out.
private struct OwnKeyNote: Sendable {
    let key: PublicKey
    let role: PeerRole
    let name: String
    let note: HealthNote

    func review(_ peers: PeerList) {
        let isListed = peers.roles(of: self.key, named: self.name).contains(PeerRoles(self.role))
        self.note.say(
            isListed ? nil : "the peers file does not list this daemon: \(self.role.rawValue) \(self.name) \(self.key)")
    }
}
