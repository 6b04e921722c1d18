@testable import Trust

/// The peers file and key files: what is accepted is found again, and has one text.
@Sendable func fuzzPeers(_ input: UnsafeRawBufferPointer) {
    if let pair = try? KeyPair(parsing: Array(input)) {
        guard let again = try? KeyPair(parsing: Array(pair.fileText.utf8)) else { fatalError("refuses its own file") }
        precondition(again == pair, "a key pair does not come back")
    }
    guard let list = try? PeerList(parsing: Array(input)) else { return }
    var written = ""
    for entry in list.entries {
        precondition(list.roles(of: entry.key).contains(PeerRoles(entry.role)), "does not find a key")
        let name = entry.name.hasSuffix("*") ? String(entry.name.dropLast()) + "x" : entry.name
        precondition(
            entry.covers(name) && list.keys(of: entry.role, named: name).contains(entry.key), "does not find a name")
        written += "\(entry.role.rawValue) \(entry.name) \(entry.key)\n"
    }
    guard let again = try? PeerList(parsing: Array(written.utf8)) else { fatalError("refuses its own list") }
    precondition(again == list, "a list does not come back")
}
