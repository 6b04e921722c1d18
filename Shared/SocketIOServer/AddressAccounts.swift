internal import NIOCore
internal import SocketIO

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
