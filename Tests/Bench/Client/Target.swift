/// The servers that the clients of a load connect to, and the credentials.
package struct Target: Sendable {
    /// At least one; clients are spread over them.
    package var addresses: [ServerAddress]
    /// For servers that require one; must allow every room (`"*"`).
    package var token: String?
    /// A plain Socket.IO server that relays events of the same names: no elements are created, any answer counts.
    package var isPlain = false
    /// Its clients ask for previews in batches.
    package var takesBatches = false
    /// Part of the rooms' names, so that runs do not share rooms.
    package var run: String

    package init(addresses: [ServerAddress], token: String? = nil, isPlain: Bool = false, run: String) {
        self.addresses = addresses
        self.token = token
        self.isPlain = isPlain
        self.run = run
    }

    func room(_ index: Int) -> String { "bench-\(self.run)-\(index)" }
    func address(of client: Int) -> ServerAddress { self.addresses[client % self.addresses.count] }
}
