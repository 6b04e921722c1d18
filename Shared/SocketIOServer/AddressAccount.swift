internal import SocketIO
internal import Timing

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
