internal import NIOCore
internal import NIOPosix
internal import SocketIO

/// The connections to neighbours: finds the owner of a session, and pools idle connections.
///
/// Connections are kept because polling makes many short requests: with one connection for each, a busy server would
/// run out of ports. Used on the loop only.
final class Relays {
    private let loop: ServerLoop
    /// Neighbours by their prefix of ids; never this server.
    private var owners: [[UInt8]: SocketIOServer.Neighbour] = [:]
    /// Connections without a request, the latest last.
    private var idle: [SocketIOServer.Neighbour: [RelayLink]] = [:]
    private var links: [ObjectIdentifier: RelayLink] = [:]
    /// Known addresses of neighbours; connections from there are not counted by address.
    private var addresses: Set<AddressKey> = []
    /// Relays in progress: incomplete requests, and WebSockets.
    private(set) var openCount = 0
    /// The maximum number of idle connections to each neighbour; more are closed after their answer.
    private static let idleLimit = 256

    init(_ loop: ServerLoop) {
        self.loop = loop
        self.replace(with: loop.configuration.neighbours)
    }

    /// Replaces the neighbours. Requests that are on their way to one that is not among them any more are finished.
    func replace(with neighbours: [String: SocketIOServer.Neighbour]) {
        let former = Set(self.owners.values)
        self.owners = [:]
        self.addresses = []
        for (prefix, neighbour) in neighbours where prefix != self.loop.configuration.sidPrefix {
            self.owners[Array(prefix.utf8)] = neighbour
            if let address = IPAddress(neighbour.address) { self.addresses.insert(AddressKey(address)) }
        }
        for neighbour in former.subtracting(self.owners.values) {
            for link in self.idle.removeValue(forKey: neighbour) ?? [] { link.drop() }
        }
    }

    /// The neighbour that created a session's id, by the id's prefix.
    func owner(of sid: [UInt8]) -> SocketIOServer.Neighbour? {
        guard !self.owners.isEmpty, sid.count > EngineID.length, EngineID(sid.suffix(EngineID.length)) != nil else {
            return nil
        }
        return self.owners[Array(sid.dropLast(EngineID.length))]
    }

    /// Whether an address is a neighbour's.
    func isNeighbour(_ address: AddressKey) -> Bool { self.addresses.contains(address) }

    /// An idle connection, or a new one that connects on the first send.
    func link(to neighbour: SocketIOServer.Neighbour) -> RelayLink {
        if let link = self.idle[neighbour]?.popLast() { return link }
        let link = RelayLink(self.loop, self, neighbour)
        self.links[ObjectIdentifier(link)] = link
        return link
    }

    /// Sends a request; the outcome is reported to `client`, perhaps before this returns.
    func send(_ request: RelayRequest, on link: RelayLink, for client: PeerHandler) {
        self.loop.statistics.relayedRequests += 1
        self.openCount += 1
        if !link.send(request, for: client) { self.connect(link, link.neighbour) }
    }

    private func connect(_ link: RelayLink, _ neighbour: SocketIOServer.Neighbour) {
        let configuration = self.loop.configuration
        let bound = NIOLoopBound(link, eventLoop: self.loop.eventLoop)
        let bootstrap = ClientBootstrap(group: self.loop.eventLoop)
            .connectTimeout(.nanoseconds(Int64(clamping: configuration.relayConnectTimeout.nanoseconds)))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 256, initial: 1024, maximum: 65_536)
            )
            .channelOption(
                .writeBufferWaterMark,
                value: .init(low: configuration.writeLowWater, high: configuration.writeHighWater)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let security = bound.value.security { try pipeline.addHandlers(security.neighbourHandlers()) }
                    try pipeline.addHandler(bound.value)
                }
            }
        let connected =
            neighbour.address.map { bootstrap.connect(to: $0) }
            ?? bootstrap.connect(host: neighbour.host, port: neighbour.port)
        connected.whenFailure { _ in bound.value.connectFailed() }
    }

    /// A connection is established; records its address as a neighbour's.
    func connected(_ channel: any Channel) {
        if let address = IPAddress(channel.remoteAddress) { self.addresses.insert(AddressKey(address)) }
    }

    /// A relay ended, successfully or not.
    func ended(isFailure: Bool) {
        self.openCount -= 1
        if isFailure { self.loop.statistics.relayFailures += 1 }
    }

    /// Keeps a connection for the next request; false at the limit, and to one that is no neighbour any more.
    func park(_ link: RelayLink) -> Bool {
        guard self.owners.values.contains(link.neighbour) else { return false }
        guard self.idle[link.neighbour, default: []].count < Self.idleLimit else { return false }
        self.idle[link.neighbour, default: []].append(link)
        return true
    }

    /// A connection is gone.
    func forget(_ link: RelayLink) {
        self.links[ObjectIdentifier(link)] = nil
        self.idle[link.neighbour]?.removeAll { $0 === link }
    }

    /// Closes every connection immediately.
    func closeAll() {
        for link in Array(self.links.values) { link.drop() }
    }
}

/// A request to be relayed to a neighbour.
struct RelayRequest {
    /// Head and body.
    var bytes: [UInt8]
    /// HEAD: the answer has no body whatever it announces.
    var isHead: Bool
    /// Whether 101 may be answered.
    var isUpgrade: Bool
    /// Whether it is a part of a POST, of which more follows: the answer is the client's only if it refuses the part.
    var isMore: Bool
}
