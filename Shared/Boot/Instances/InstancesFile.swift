internal import JSONBytes

/// The contents of a file that lists the instances of stages, for any number of daemons and settings: one JSON object,
/// with an array for each setting.
///
///     {
///       "coalescers": ["coalescer-1=tcp://10.0.0.3:7100"],
///       "committers": ["committer-1=tcp://10.0.0.3:7200"],
///       "fanouts": ["fanout-1=tcp://10.0.0.4:7300", "fanout-2=tcp://10.0.0.5:7300"]
///     }
///
/// A part of it is no JSON, so a file that is being written is refused, not taken for one with fewer instances.
struct InstancesFile {
    /// The settings that a file may have members for.
    static let members = ["coalescers", "committers", "fanouts"]

    private let bytes: [UInt8]
    private let root: JSONValue

    /// Parses a file.
    /// - Throws: the reason, with the line if there is one.
    init(parsing bytes: [UInt8]) throws(SettingRefusal) {
        self.bytes = bytes
        self.root = try JSONValue(ofFile: bytes)
        guard self.root.kind == .object else { throw SettingRefusal("must be one JSON object") }
        for (key, _) in self.root.members where !Self.members.contains(key.string ?? "") {
            throw self.refusal(
                at: key, "has no member \"\(key.string ?? "")\"; allowed are \(Self.members.joined(separator: ", "))")
        }
    }

    /// The instances of one member.
    /// - Throws: the reason, with the line; an empty list is refused, as without instances nothing would work.
    func addresses(of member: String) throws(SettingRefusal) -> [PeerAddress] {
        guard let list = self.root[member] else { throw SettingRefusal("has no member \"\(member)\"") }
        guard list.kind == .array, list.count > 0, list.count <= 1000 else {
            throw self.refusal(
                at: list, "\(member) must be an array of 1 to 1000 texts of the form \(PeerAddress.form)")
        }
        var names: Set<String> = []
        var addresses: [PeerAddress] = []
        for element in list.elements {
            let address = try self.address(element, in: member)
            guard names.insert(address.name).inserted else {
                throw self.refusal(at: element, "\(member) has the name \"\(address.name)\" twice")
            }
            addresses.append(address)
        }
        return addresses
    }

    private func address(_ element: JSONValue, in member: String) throws(SettingRefusal) -> PeerAddress {
        guard let text = element.string, SettingText.plain(.string(text)) != nil else {
            throw self.refusal(at: element, "\(member) must contain texts of the form \(PeerAddress.form)")
        }
        do { return try PeerAddress(text) } catch { throw self.refusal(at: element, "\(member): \(error.reason)") }
    }

    private func refusal(at value: JSONValue, _ reason: String) -> SettingRefusal {
        SettingRefusal("line \(self.bytes.line(at: value.rawBytes.startIndex)): \(reason)")
    }
}
