internal import NIOCore
internal import SocketIO

/// The open TCP connections of a server, and the limits on their number.
final class ConnectionRegistry {
    let loop: ServerLoop
    let accounts: AddressAccounts
    private var connections: [ObjectIdentifier: PeerHandler] = [:]
    /// Connections over a limit that are kept until their first request was answered 503.
    private var refusedCount = 0
    private var gates: [AcceptGate] = []
    /// More connections over a limit than these are closed without an answer.
    private static let maxRefused = 64

    init(_ loop: ServerLoop, _ accounts: AddressAccounts) {
        self.loop = loop
        self.accounts = accounts
    }

    var count: Int { self.connections.count }

    var all: [PeerHandler] { Array(self.connections.values) }

    var heldBytes: Int { self.connections.values.reduce(0) { $0 + $1.heldBytes } }

    // MARK: Accepting

    /// Whether the process has descriptors for another connection.
    var mayAccept: Bool { self.count < self.loop.configuration.maxDescriptors }

    /// Whether to keep a connection that was just accepted, before anything is allocated for it.
    func admits(_ remoteAddress: SocketAddress?) -> Bool {
        self.loop.statistics.connections += 1
        let account = self.account(remoteAddress)
        guard self.opens(account) else { return false }
        let isKept = self.refusedCount < Self.maxRefused || self.isWithinLimits(account, adding: 1)
        if !isKept { self.loop.statistics.refusedConnections += 1 }
        return isKept
    }

    /// Counts a connection that a client opens; false when its address has opened too many lately.
    func opens(_ account: AddressAccount?) -> Bool {
        guard let account, !account.mayConnect(at: self.loop.now) else {
            return true
        }
        self.loop.statistics.refusedConnections += 1
        return false
    }

    /// The account of a connection by the address that it comes from.
    func account(_ remoteAddress: SocketAddress?) -> AddressAccount? {
        IPAddress(remoteAddress).flatMap(self.accounts.account(of:))
    }

    /// A listener's gate, which resumes accepting when there is room again.
    func add(_ gate: AcceptGate) { self.gates.append(gate) }

    // MARK: Connections

    /// Adds a connection; false when it exceeds a limit. It must be removed in either case.
    func add(_ connection: PeerHandler, _ account: AddressAccount?) -> Bool {
        self.connections[ObjectIdentifier(connection)] = connection
        account?.connections += 1
        let isWithinLimits = self.isWithinLimits(account, adding: 0)
        if !isWithinLimits {
            self.loop.statistics.refusedConnections += 1
            self.refusedCount += 1
        }
        return isWithinLimits
    }

    /// Counts a connection for another account; false when it exceeds that one's limit.
    func move(from former: AddressAccount?, to account: AddressAccount) -> Bool {
        former?.connections -= 1
        account.connections += 1
        return self.isWithinLimits(account, adding: 0)
    }

    /// Removes a connection, if it was added.
    /// - Parameter wasRefused: whether adding it exceeded a limit.
    func remove(_ connection: PeerHandler, _ account: AddressAccount?, wasRefused: Bool) {
        guard self.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        account?.connections -= 1
        if wasRefused { self.refusedCount -= 1 }
        if self.mayAccept { for gate in self.gates { gate.resume() } }
    }

    private func isWithinLimits(_ account: AddressAccount?, adding count: Int) -> Bool {
        let configuration = self.loop.configuration
        let ofAddress = account.map { $0.connections + count } ?? 0
        return self.count - self.refusedCount + count <= configuration.maxConnections
            && ofAddress <= configuration.maxConnectionsPerAddress
    }
}
