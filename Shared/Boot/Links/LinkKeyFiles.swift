package import Trust

extension SharedSettings {
    package static let linkKeyFile = Setting<String?>.optionalString(
        "link-key-file",
        "File with this daemon's key pair for links over TCP, for its user's eyes only; touchsync keys new makes one.")
    package static let peersFile = Setting<String?>.optionalString(
        "peers-file",
        "File with the names and public keys of all peers, the same on every machine; read again when it changes.")
}

/// The two files that guard a daemon's links over TCP, as they were at start.
package struct LinkKeyFiles: Sendable, Equatable {
    /// The daemon's own key pair, for as long as it runs.
    package let own: KeyPair
    package let ownPath: String
    /// That file before it was read; nil when it could not be examined.
    package let ownStamp: FileFacts?
    /// The path of the peers file, which may change while the daemon runs.
    package let peersPath: String
    package let peers: PeerList
    /// The peers file before it was read; nil when it could not be examined.
    package let stamp: FileFacts?

    /// Reads a key pair.
    /// - Throws: the reason, never with the secret; others than the file's owner may not read or write it.
    package static func keyPair(at path: String) throws(SettingRefusal) -> KeyPair {
        let bytes = try FileBytes.read(path) { facts in
            facts.permissions & 0o077 == 0
                ? nil : SettingRefusal("may be read or written by others than its owner: chmod 600 \(path)")
        }.get()
        do { return try KeyPair(parsing: bytes) } catch { throw SettingRefusal(error.description) }
    }

    /// Why the peers in a file with this metadata are not accepted, whatever it contains: who can add a line can speak
    /// for everybody. Nil when there is no reason.
    package static func objection(toPeersFile path: String, _ facts: FileFacts) -> SettingRefusal? {
        facts.permissions & 0o022 == 0
            ? nil : SettingRefusal("may be written by others than its owner: chmod go-w \(path)")
    }

    /// Reads a peers file.
    /// - Throws: the reason, with the line; others than its owner may not write it.
    package static func peers(at path: String) throws(SettingRefusal) -> PeerList {
        try self.peers(in: FileBytes.read(path) { self.objection(toPeersFile: path, $0) })
    }

    /// The peers of a file's contents.
    /// - Throws: the reason, with the line.
    package static func peers(in contents: Result<[UInt8], SettingRefusal>) throws(SettingRefusal) -> PeerList {
        let bytes = try contents.get()
        do { return try PeerList(parsing: bytes) } catch { throw SettingRefusal(error.description) }
    }
}

extension SettingValues {
    /// The files that guard the daemon's links; nil without link keys.
    /// - Parameter bound: the settings of the endpoints that the daemon binds.
    /// - Throws: when a file is wrong, when only one of them is set, and without link keys when a bound endpoint can be
    ///   reached from other machines; likewise ``instances(_:mayBeEmpty:)`` for those that are dialled.
    package func linkKeys(bound: [Setting<String?>]) throws(SettingProblem) -> LinkKeyFiles? {
        guard let path = self[SharedSettings.linkKeyFile] else {
            guard self[SharedSettings.peersFile] == nil else {
                throw self.problem(SharedSettings.peersFile, "needs \(SharedSettings.linkKeyFile.name), too")
            }
            for setting in bound { try self.requireLocal(self[setting], of: setting) }
            return nil
        }
        guard let peersPath = self[SharedSettings.peersFile] else {
            throw self.problem(SharedSettings.linkKeyFile, "needs \(SharedSettings.peersFile.name), too")
        }
        let ownStamp = FileFacts(of: path)
        let own: KeyPair
        do { own = try LinkKeyFiles.keyPair(at: path) } catch {
            throw self.problem(SharedSettings.linkKeyFile, error.reason)
        }
        // Examined before it is read, so that a change in between is found later.
        let stamp = FileFacts(of: peersPath)
        do throws(SettingRefusal) {
            let peers = try LinkKeyFiles.peers(at: peersPath)
            return LinkKeyFiles(
                own: own, ownPath: path, ownStamp: ownStamp, peersPath: peersPath, peers: peers, stamp: stamp)
        } catch {
            throw self.problem(SharedSettings.peersFile, error.reason)
        }
    }

    private func requireLocal(
        _ endpoint: String?, of setting: some SettingDeclaration
    ) throws(SettingProblem) {
        guard let endpoint, !PeerAddress.isLocal(endpoint: endpoint) else { return }
        throw self.problem(setting, SettingRefusal.plain(endpoint).reason)
    }
}
