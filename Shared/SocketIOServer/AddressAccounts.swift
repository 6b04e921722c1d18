internal import NIOCore
internal import SocketIO
internal import Timing

/// The unit of the limits by address: an IPv4 address, or the /64 of an IPv6 one, which is a single customer's.
public struct AddressKey: Hashable, Sendable {
    private let bits: UInt64
    private let isIPv6: Bool

    init(_ address: IPAddress) {
        self.isIPv6 = address.bytes.count == 16
        self.bits = address.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension IPAddress {
    /// The IP address of a socket's peer; `nil` for Unix domain sockets.
    init?(_ address: SocketAddress?) {
        let bytes: [UInt8]
        switch address {
        // The address follows family and port (IPv4), or those and the flow label (IPv6).
        case .v4(let address): bytes = Array(withUnsafeBytes(of: address.address) { Array($0) }[4..<8])
        case .v6(let address): bytes = Array(withUnsafeBytes(of: address.address) { Array($0) }[8..<24])
        default: return nil
        }
        self.init(bytes: bytes)
    }
}

/// The accounts of client addresses. Direct connections from loopback have none.
final class AddressAccounts {
    private let loop: ServerLoop
    private var accounts: [AddressKey: AddressAccount] = [:]

    init(_ loop: ServerLoop) {
        self.loop = loop
    }

    var count: Int { self.accounts.count }

    /// The account of a connection's own address; `nil` if it is not limited by its address.
    func account(of address: IPAddress) -> AddressAccount? {
        guard !address.isLoopback, !self.loop.configuration.proxies.contains(address) else { return nil }
        return self.account(AddressKey(address))
    }

    /// The account of a client that a trusted proxy names; also for 127.0.0.1, which anybody could claim.
    func account(forwarded address: IPAddress) -> AddressAccount { self.account(AddressKey(address)) }

    private func account(_ key: AddressKey) -> AddressAccount {
        if let account = self.accounts[key] { return account }
        let account = AddressAccount(key, self.loop.configuration)
        self.accounts[key] = account
        return account
    }

    /// Forgets the accounts that nothing uses and that owe nothing.
    func sweep() {
        let now = self.loop.now
        for (key, account) in self.accounts where account.isUnused(at: now) {
            self.accounts[key] = nil
        }
    }
}

/// What the connections and sessions of one client address use together.
final class AddressAccount {
    let key: AddressKey
    var connections = 0
    var sessions = 0
    var reads: ReadMeter
    private var openings: RateMeter

    init(_ key: AddressKey, _ configuration: SocketIOServer.Configuration) {
        self.key = key
        self.reads = configuration.addressReads
        self.openings = configuration.addressOpenings
    }

    /// Counts a new connection; false if there were too many lately.
    func mayConnect(at now: UInt64) -> Bool { self.openings.spend(at: Instant(nanoseconds: now)) }

    /// Whether nothing would be forgotten with this account.
    func isUnused(at now: UInt64) -> Bool {
        self.connections == 0 && self.sessions == 0 && self.reads.isUnused(at: now)
            && self.openings.isUnused(at: Instant(nanoseconds: now))
    }
}
