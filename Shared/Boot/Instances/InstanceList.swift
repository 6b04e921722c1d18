/// A stage's instances at start, and where they may change while the daemon runs.
package struct InstanceList: Sendable {
    package let source: InstanceSource
    /// The instances at start; none while only DNS knows them.
    package let addresses: [PeerAddress]
    /// The file before it was read; nil without one, or when it could not be examined.
    package let stamp: FileFacts?
    /// The member of the file that lists them: `fanouts`.
    private let member: String
    /// True when the links have no keys, so that instances must be on this machine.
    private let isPlain: Bool

    init(_ source: InstanceSource, member: String, isPlain: Bool) throws(SettingRefusal) {
        self.source = source
        self.member = member
        self.isPlain = isPlain
        switch source {
        case .list(let addresses):
            self.stamp = nil
            self.addresses = try Self.checked(addresses, isPlain: isPlain)
        case .file(let path):
            // Examined before it is read, so that a change in between is found later.
            self.stamp = FileFacts(of: path)
            self.addresses = try Self.parse(FileBytes.read(path), member, isPlain: isPlain)
        case .name(let name):
            self.stamp = nil
            self.addresses = []
            if isPlain { throw .plain("\(name)") }
        }
    }

    /// The instances that a file lists.
    /// - Parameter contents: the file's bytes, or why it cannot be read.
    /// - Throws: the reason, with the line if there is one.
    package func parse(_ contents: Result<[UInt8], SettingRefusal>) throws(SettingRefusal) -> [PeerAddress] {
        try Self.parse(contents, self.member, isPlain: self.isPlain)
    }

    private static func parse(
        _ contents: Result<[UInt8], SettingRefusal>, _ member: String, isPlain: Bool
    ) throws(SettingRefusal) -> [PeerAddress] {
        let file = try InstancesFile(parsing: try contents.get())
        return try self.checked(try file.addresses(of: member), isPlain: isPlain)
    }

    private static func checked(_ addresses: [PeerAddress], isPlain: Bool) throws(SettingRefusal) -> [PeerAddress] {
        guard isPlain, let address = addresses.first(where: { !$0.isLocal }) else { return addresses }
        throw .plain("\(address)")
    }
}

extension SettingRefusal {
    /// The refusal of an endpoint on the network without link keys: whoever reaches it can speak for every user.
    static func plain(_ endpoint: String) -> SettingRefusal {
        SettingRefusal(
            "\"\(endpoint)\" can be reached from other machines, and without link keys whoever reaches it can speak for "
                + "every user: set \(SharedSettings.linkKeyFile.name) and \(SharedSettings.peersFile.name)")
    }
}

extension SettingValues {
    /// The instances of a stage as far as they are known without asking anybody: those of a list or a file. None of a
    /// file that is wrong, as daemons say so.
    package func knownInstances(_ setting: Setting<InstanceSource>) -> [PeerAddress] {
        (try? InstanceList(self[setting], member: setting.name, isPlain: false))?.addresses ?? []
    }

    /// A stage's instances.
    /// - Parameter mayBeEmpty: whether a list without instances is allowed.
    /// - Throws: when the list is wrong, or the file that it names.
    package func instances(
        _ setting: Setting<InstanceSource>, mayBeEmpty: Bool = false
    ) throws(SettingProblem) -> InstanceList {
        let source = self[setting]
        guard mayBeEmpty || !source.isEmpty else { throw self.problem(setting, "must name at least one") }
        do throws(SettingRefusal) {
            return try InstanceList(
                source, member: setting.name, isPlain: self[SharedSettings.linkKeyFile] == nil)
        } catch {
            throw self.problem(setting, error.reason)
        }
    }
}
