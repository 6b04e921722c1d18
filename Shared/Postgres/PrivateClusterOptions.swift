/// How a private cluster is made and run.
package struct PrivateClusterOptions: Sendable {
    /// Everything of the cluster lives here; created when missing.
    package var folder: String
    /// The folder of PostgreSQL's programs; found by itself when nil.
    package var binaries: String?
    /// Also listen on 127.0.0.1, with a password (the socket needs none, its folder lets nobody else in).
    package var tcpPort: UInt16?
    /// Server settings on top of the defaults; the last of a name wins.
    package var settings: [(name: String, value: String)] = []
    /// The database that exists once the cluster has started.
    package var database = "touchsync"
    /// The role that owns it, a superuser of this cluster.
    package var role = "touchsync"
    /// How long a start may take; a crashed server first replays its log.
    package var startDeadline: Duration = .seconds(60)
    /// Wait for the disk when the cluster is made. Off only where nothing needs to survive.
    package var syncsOnCreation = true

    /// The defaults, under this folder.
    package init(folder: String) {
        self.folder = folder
    }
}

/// Why a private cluster cannot be made, started or stopped: a sentence that says what to do.
package struct ClusterError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The sentence.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
