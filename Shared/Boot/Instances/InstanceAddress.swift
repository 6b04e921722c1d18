/// A named instance's address in a list of a setting.
package protocol InstanceAddress: Hashable, Sendable, CustomStringConvertible {
    /// Unique in its stage: it decides what the instance owns, and what it must call itself.
    var name: String { get }
    /// Parses an item of a list.
    init(_ text: String) throws(SettingRefusal)
    /// An instance that DNS knows.
    init(_ found: DNSInstance)
    /// What an item of a list looks like.
    static var form: String { get }
    /// True for the bound ends of links, which need keys unless they are on this machine.
    static var areLinks: Bool { get }
    /// True for one that only programs of this machine can reach.
    var isLocal: Bool { get }
}

extension InstanceAddress {
    /// The addresses of a list, each name once.
    static func list(_ items: [String]) throws(SettingRefusal) -> [Self] {
        var names: Set<String> = []
        var addresses: [Self] = []
        for item in items {
            let address = try Self(item)
            guard names.insert(address.name).inserted else {
                throw SettingRefusal("the name \"\(address.name)\" stands twice in the list")
            }
            addresses.append(address)
        }
        return addresses
    }
}
