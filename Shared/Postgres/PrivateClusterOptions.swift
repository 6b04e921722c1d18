/// How to create and run a private cluster.
package struct PrivateClusterOptions: Sendable {
    /// The folder of the cluster; created if missing.
    package var folder: String
    /// The folder of PostgreSQL's programs; located automatically when nil.
    package var binaries: String?
    /// Server settings in addition to the defaults; the last one of a name wins.
    package var settings: [(name: String, value: String)] = []
    /// The database that exists once the cluster has started.
    package var database = "touchsync"
    /// The role that owns it, a superuser of this cluster.
    package var role = "touchsync"
    /// The user that runs the server when the caller is root; nil: the one that created the cluster, else `postgres` or
    /// `nobody`.
    package var user: String?
    /// The timeout of a start; a crashed server first replays its log.
    package var startDeadline: Duration = .seconds(60)
    /// Sync the disk when the cluster is created. Disable it only where nothing needs to survive.
    package var syncsOnCreation = true

    /// The defaults, under this folder.
    package init(folder: String) {
        self.folder = folder
    }
}

/// Why a private cluster cannot be created, started or stopped: a sentence with a solution.
package struct ClusterError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The sentence.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
