import Glibc
import JSONBytes
internal import Processes
internal import Timing

/// A private PostgreSQL server under one folder: created, started, found again and stopped.
///
/// It is reached through a UNIX socket in a folder that only its owner (and root) can enter; no password, no network.
/// The server runs in its own session and inherits none of our descriptors, so it survives its parent, however that
/// ends: the next ``start()`` on the same folder finds it and adopts it. ``stop(_:deadline:)`` stops it from any
/// process. A lock file prevents two processes from starting or stopping it at the same time.
///
/// As root, the server runs as another user, by default `postgres` (or `nobody`), because PostgreSQL refuses to run as
/// root. All calls block;
/// they may be made from any thread.
package final class PrivateCluster: Sendable {
    package enum Start: Equatable, Sendable {
        case created
        /// It existed, and was not running (or had crashed).
        case started
        /// It was already running.
        case adopted
    }

    package enum StopMode: Sendable {
        /// Disconnects the clients, writes everything, stops. The usual mode.
        case fast
        /// Stops immediately; the next start replays the log, as after a crash.
        case immediate

        var signal: Int32 {
            switch self {
            case .fast: SIGINT
            case .immediate: SIGQUIT
            }
        }
    }

    let settings: [(name: String, value: String)]
    let syncsOnCreation: Bool
    /// The database that exists once the cluster has started, and the role that owns it, a superuser of this cluster.
    private static let database = "touchsync"
    static let role = "touchsync"
    let binaries: String
    let place: ClusterPlace

    /// Finds the programs and creates the folders; starts nothing.
    /// - Parameters:
    ///   - folder: created if missing.
    ///   - user: runs the server when the caller is root; nil: the one that created the cluster, else `postgres` or
    ///     `nobody`.
    ///   - settings: of the server, in addition to the defaults; the last one of a name wins.
    ///   - syncsOnCreation: whether the disk is synced when the cluster is created; false only where nothing needs to
    ///     survive.
    package init(
        _ folder: String, user: String? = nil, settings: [(name: String, value: String)] = [],
        syncsOnCreation: Bool = true
    ) throws(ClusterError) {
        self.settings = settings
        self.syncsOnCreation = syncsOnCreation
        place = try ClusterPlace(folder, user: user)
        // A cluster is bound to the major version that created it.
        let made = TextFile.read("\(place.data)/PG_VERSION").flatMap { Int($0.prefix { $0.isNumber }) }
        binaries = try Self.findBinaries(version: made)
    }

    /// PGDATA.
    package var dataDirectory: String { place.data }

    package var socketDirectory: String { place.socket }

    package var logDirectory: String { place.logFolder }

    /// The folder of everything, without links.
    package var folder: String { place.folder }

    /// A connection string for libpq, psql and the libraries built on it; usable by the owner of the folder and by root.
    package var connectionString: String { connectionString(database: Self.database) }

    /// The same for another database of the cluster.
    package func connectionString(database: String) -> String {
        let role = PercentCoding.encode(Self.role)
        let host = PercentCoding.encode(place.socket)
        return "postgresql://\(role)@/\(PercentCoding.encode(database))?host=\(host)&port=\(ClusterPlace.port)"
    }

    /// The server's process; nil when it is not running.
    package var processID: Int32? {
        guard let line = TextFile.read("\(place.data)/postmaster.pid")?.split(separator: "\n").first,
            let processID = Int32(line), processID > 0, isOurServer(processID)
        else { return nil }
        return processID
    }

    /// After a crash, the number in postmaster.pid may belong to any process; a server's working directory is its data
    /// folder.
    private func isOurServer(_ processID: Int32) -> Bool {
        guard !ChildProcess.hasEnded(processID) else { return false }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/\(processID)/cwd", &buffer, buffer.count - 1)
        guard length > 0 else { return false }
        let folder = String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return folder == place.data
    }

    /// Stops the server and waits until it is gone; does nothing when it is not running.
    package func stop(_ mode: StopMode = .fast, deadline: Duration = .seconds(30)) throws(ClusterError) {
        let lock = try FolderLock(place.lock)
        defer { lock.release() }
        guard let processID else { return }
        Glibc.kill(processID, mode.signal)
        try awaitEnd(of: processID, deadline: deadline)
    }

    /// Kills the server's main process without warning; the others detect that and end. For tests of crashes.
    package func kill() throws(ClusterError) {
        let lock = try FolderLock(place.lock)
        defer { lock.release() }
        guard let processID else { return }
        Glibc.kill(processID, SIGKILL)
        try awaitEnd(of: processID, deadline: .seconds(10))
    }

    private func awaitEnd(of processID: Int32, deadline: Duration) throws(ClusterError) {
        let limit = monotonicNow() + Nanoseconds(deadline)
        while !ChildProcess.hasEnded(processID) {
            guard monotonicNow() < limit else { throw ClusterError("PostgreSQL (\(processID)) does not stop") }
            Self.pause()
        }
    }

    /// The step of a poll with a deadline.
    static func pause(milliseconds: Int32 = 5) {
        poll(nil, 0, milliseconds)
    }
}

/// An exclusive lock on a file, while the cluster's state is changed.
struct FolderLock {
    private let descriptor: Int32

    init(_ path: String) throws(ClusterError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ClusterError("cannot open \(path): \(String(cString: strerror(errno)))") }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else {
                Glibc.close(descriptor)
                throw ClusterError("cannot lock \(path): \(String(cString: strerror(errno)))")
            }
        }
    }

    func release() {
        Glibc.close(descriptor)
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
