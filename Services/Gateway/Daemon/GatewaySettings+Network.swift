package import Boot
import SocketIO
import SocketIOServer
import Timing

/// What one peer, one address and all of them together may use of a gateway's port.
extension GatewaySettings {
    static let maxConnections = Setting.int(
        "max-connections", default: 10_000, in: 1...1_000_000, "Connections of this gateway, and as many sessions.")
    static let maxConnectionsPerAddress = Setting.int(
        "max-connections-per-address", default: 64, in: 1...1_000_000,
        "Connections from one IP address, and as many sessions; direct connections from loopback are not counted.")
    static let addressOpenings = Setting.int(
        "address-connections-per-second", default: 20, in: 1...1_000_000,
        "New connections of one IP address in a second, and max-connections-per-address at once after a pause; more are closed."
    )
    static let connectionBytes = Setting.int(
        "connection-bytes-per-second", default: 2 << 20, in: 1024...1 << 34,
        "Bytes that one connection may send in a second, and as many at once; more are left unread for a while.")
    static let connectionMessages = Setting.int(
        "connection-messages-per-second", default: 2000, in: 10...10_000_000,
        "Messages that one connection may send in a second, an eighth of them at once; a request to the API counts for twenty."
    )
    static let addressBytes = Setting.int(
        "address-bytes-per-second", default: 4 << 20, in: 1024...1 << 36,
        "The same for the bytes of all connections of one IP address.")
    static let addressMessages = Setting.int(
        "address-messages-per-second", default: 8000, in: 10...100_000_000,
        "The same for the messages of all connections of one IP address.")
    static let memoryBudget = Setting.int(
        "memory-budget-bytes", default: 512 << 20, in: 1 << 20...1 << 40,
        "Bytes of what waits for all connections and is kept for apps; above it the largest of a user are closed.")
    static let connectRequestTimeout = Setting.milliseconds(
        "connect-request-timeout-ms", default: 5000, in: 100...300_000,
        "How long a connection may stay that has not sent a CONNECT at all.")
    package static let trustedProxies = Setting<[String]>.list(
        "trusted-proxies",
        "Addresses of proxies (10.0.0.0/8) that say whose requests they pass on, whose own are not counted; 127.0.0.1 stands for ::1, too."
    )
    static let proxySource = Setting<TrustedProxies.Source>.choice(
        "proxy-source", default: .xForwardedFor,
        "How they say it; proxy-protocol: a PROXY protocol header (version 2) before each connection.")

    static let networkSettings: [any SettingDeclaration] = [
        maxConnections, maxConnectionsPerAddress, addressOpenings, connectionBytes, connectionMessages, addressBytes,
        addressMessages, memoryBudget, connectRequestTimeout, trustedProxies, proxySource,
    ]

    static func configureNetwork(
        _ configuration: inout SocketIOServer.Configuration, _ values: SettingValues
    ) throws(SettingProblem) {
        let perAddress = values[Self.maxConnectionsPerAddress]
        configuration.maxConnections = values[Self.maxConnections]
        configuration.maxConnectionsPerAddress = perAddress
        configuration.addressOpenings = RateMeter(perSecond: values[Self.addressOpenings], burst: perAddress)
        configuration.connectionReads = ReadMeter(
            bytesPerSecond: values[Self.connectionBytes], messagesPerSecond: values[Self.connectionMessages])
        configuration.addressReads = ReadMeter(
            bytesPerSecond: values[Self.addressBytes], messagesPerSecond: values[Self.addressMessages])
        configuration.memoryBudget = values[Self.memoryBudget]
        configuration.connectRequestTimeout = values[Self.connectRequestTimeout]
        // The rest is for files, links to other daemons, and connections that are being closed.
        configuration.maxDescriptors = max(64, ProcessSetup.prepare() / 10 * 9)
        var ranges: [AddressRange] = []
        for text in values[Self.trustedProxies] {
            guard let range = AddressRange(text) else {
                throw values.problem(
                    Self.trustedProxies, "\"\(text)\" is not an IP address or range such as 10.0.0.0/8")
            }
            ranges.append(range)
        }
        // A proxy that is told `localhost` may come from either address of loopback.
        if let (v4, v6) = Self.loopback, ranges.contains(where: { $0.contains(v4) }) { ranges.append(v6) }
        if !ranges.isEmpty { configuration.proxies = TrustedProxies(ranges, source: values[Self.proxySource]) }
    }

    private static let loopback = IPAddress("127.0.0.1").flatMap { v4 in AddressRange("::1").map { (v4, $0) } }
}
