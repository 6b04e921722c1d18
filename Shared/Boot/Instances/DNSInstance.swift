/// An instance that DNS knows.
package struct DNSInstance: Sendable, Hashable {
    /// What it goes by: its address, with dashes for the colons of IPv6, which names do not have; or the first label of
    /// its host in a service's record, such as `fanout-0` of `fanout-0.fanouts.example.net`.
    package let name: String
    /// Its IP address.
    package let address: String
    package let port: Int

    package init(name: String, address: String, port: Int) {
        self.name = name
        self.address = address
        self.port = port
    }

    /// One of the addresses of a host.
    package init(address: String, port: Int) {
        let name = String(address.map { $0 == ":" || $0 == "%" ? "-" : $0 })
        self.init(name: name, address: address, port: port)
    }
}
