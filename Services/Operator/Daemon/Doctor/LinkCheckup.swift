internal import Boot
internal import Stages
internal import Trust

/// Checks what guards the links over TCP: keys, who may read them, and peers that nobody knows.
struct LinkCheckup {
    let resolve: (Stage) -> SettingsResolver

    /// One finding for each problem, or one that all is well.
    func examine() -> [Finding] {
        var findings: [Finding] = []
        for stage in Stage.allCases {
            for finding in self.examine(stage, self.resolve(stage).values) where !findings.contains(finding) {
                findings.append(finding)
            }
        }
        let isAllWell = findings.allSatisfy { $0.grade == .ok }
        return isAllWell ? Array(findings.suffix(1)) : findings.filter { $0.grade != .ok }
    }

    private func examine(_ stage: Stage, _ values: SettingValues) -> [Finding] {
        let endpoints = Self.endpoints(stage, values)
        guard let keyFile = values[SharedSettings.linkKeyFile] else { return [Self.plain(endpoints)] }
        do {
            _ = try LinkKeyFiles.keyPair(at: keyFile)
        } catch {
            return [
                .fail("links", "\(keyFile) \(error.reason)", "repair it, or make another with touchsync keys new")
            ]
        }
        guard let peersFile = values[SharedSettings.peersFile] else {
            return [.fail("links", "there is a key, but no peers-file", "set peers-file")]
        }
        do {
            let peers = try LinkKeyFiles.peers(at: peersFile)
            return Self.unknownPeers(stage, values, peers, in: peersFile)
        } catch {
            return [.fail("links", "\(peersFile) \(error.reason)", "repair it as it says")]
        }
    }

    private static func plain(_ endpoints: [String]) -> Finding {
        if let endpoint = endpoints.first(where: { !PeerAddress.isLocal(endpoint: $0) }) {
            return .fail(
                "links",
                "\(endpoint) can be reached from other machines, and there are no link keys: daemons will not start",
                "set link-key-file and peers-file; touchsync keys new makes a key")
        }
        if let endpoint = endpoints.first(where: { $0.hasPrefix("tcp://") }) {
            return .warn(
                "links", "\(endpoint) is plain: every program of this machine can speak for every user",
                "use ipc://, or set link-key-file and peers-file")
        }
        return .ok("links", "on this machine only")
    }

    private static func unknownPeers(
        _ stage: Stage, _ values: SettingValues, _ peers: PeerList, in file: String
    ) -> [Finding] {
        var missing: [String] = []
        for (role, setting) in Self.dialled(stage) {
            for address in values.knownInstances(setting) where address.endpoint.hasPrefix("tcp://") {
                if peers.keys(of: role, named: address.name).isEmpty {
                    missing.append("\(role.rawValue) \(address.name)")
                }
            }
        }
        guard !missing.isEmpty else {
            return [.ok("links", "guarded by keys; \(file) has \(peers.entries.count) lines")]
        }
        return missing.map {
            .fail("links", "\(file) has no key of \($0)", "add the line that touchsync keys show prints there")
        }
    }

    private static func dialled(_ stage: Stage) -> [(PeerRole, Setting<InstanceSource>)] {
        let settings: [(stage: Stage, PeerRole, Setting<InstanceSource>)] = [
            (.coalescer, .coalescer, SharedSettings.coalescers), (.committer, .committer, SharedSettings.committers),
            (.fanout, .fanout, SharedSettings.fanouts),
        ]
        return settings.filter { Topology.downstream(of: stage).contains($0.stage) }.map { ($0.1, $0.2) }
    }

    private static func endpoints(_ stage: Stage, _ values: SettingValues) -> [String] {
        let bound = stage == .gateway ? nil : values.text(ofSetting: SharedSettings.bind.name)
        return [bound].compactMap(\.self) + Self.dialled(stage).flatMap { Self.endpoints(of: $0.1, values) }
    }

    private static func endpoints(
        of setting: Setting<InstanceSource>, _ values: SettingValues
    ) -> [String] {
        if case .name(let name) = values[setting] {
            guard case .addresses(let port) = name.records else { return ["tcp://\(name.host):*"] }
            return ["tcp://\(name.host):\(port)"]
        }
        return values.knownInstances(setting).map(\.endpoint)
    }
}
