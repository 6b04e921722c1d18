import Mesh
import Stages

/// A connection of the mesh, from the daemon that dials to the one that binds.
///
/// It promises what the mesh promises: between up and down envelopes arrive in order, each once; across a down nothing
/// is promised. Each end has its own idea of whether the link is up: they may disagree for a while.
final class Link {
    enum Direction: Int {
        /// From the dialling daemon, and back to it.
        case forth = 0
        case back
    }

    /// Its place among the world's links.
    let number: Int
    let dialler: Process
    let server: Process
    /// Whether the server is in the set that the dialler knows.
    var isListed = false
    /// Numbers the connections; an envelope belongs to one.
    var lastSession = 0
    /// The connection that the dialler believes in.
    var session: Int?
    /// Whether the server rests, as far as the dialler knows.
    var isResting = false
    /// What the server greeted with.
    var greeting: [UInt8] = []
    /// Those that the server believes in: an old one may not have been given up when a new one is there.
    var serverSessions: Set<Int> = []
    /// When the newest envelope of each direction arrives: none overtakes it.
    var arrival: [UInt64] = [0, 0]
    /// Until when nothing arrives, by direction.
    var stalled: [UInt64] = [0, 0]
    /// Until when nothing more is accepted, by direction.
    var fullUntil: [UInt64] = [0, 0]
    /// Until when everything takes longer.
    var slowUntil: UInt64 = 0
    /// The last envelopes from the dialler, for those that come again on the next connection.
    var recent: [[UInt8]] = []

    init(_ number: Int, from dialler: Process, to server: Process) {
        self.number = number
        self.dialler = dialler
        self.server = server
    }

    /// The index of the daemon at its bound end.
    var index: Int { self.server.instance.number }

    var name: String { "\(self.dialler.name) to \(self.server.name)" }

    /// True for what carries only commits or updates: whoever reads them must take them twice.
    var isIdempotent: Bool {
        switch (self.dialler.stage, self.server.stage) {
        case (_, .committer), (.committer, .fanout): true
        default: false
        }
    }
}

extension PeerID {
    /// The dialling end of a link as the bound end sees it: one connection.
    init(_ link: Link, _ session: Int) {
        self.init(slot: UInt32(link.number), serial: UInt64(link.number) << 32 | UInt64(session))
    }

    /// The number of its link.
    var link: Int { Int(self.slot) }

    /// Its connection.
    var session: Int { Int(self.serial & 0xffff_ffff) }
}
