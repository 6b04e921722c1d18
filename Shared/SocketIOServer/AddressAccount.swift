internal import SocketIO

/// What the connections and sessions of one client address use together.
final class AddressAccount {
    let key: AddressKey
    var connections = 0
    var sessions = 0
    var reads = ReadMeter()
    private var openings = RateMeter()

    init(_ key: AddressKey) {
        self.key = key
    }

    /// Counts a new connection; false if there were too many lately.
    func mayConnect(_ limit: RateLimit, at now: UInt64) -> Bool { self.openings.spend(of: limit, at: now) }

    /// Whether nothing would be forgotten with this account.
    func isUnused(_ configuration: SocketIOServer.Configuration, at now: UInt64) -> Bool {
        self.connections == 0 && self.sessions == 0
            && self.reads.isUnused(configuration.addressReads, at: now)
            && self.openings.isUnused(configuration.addressOpenings, at: now)
    }
}
