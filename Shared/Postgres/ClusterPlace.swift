import Glibc
internal import Processes

/// The location of a private cluster, the user that runs it, and its programs.
///
///     FOLDER/data      PGDATA, 0700 (a link to /var/lib/touchsync/HASH when the server's user may not enter FOLDER)
///     FOLDER/socket    the UNIX socket, 0700 (or /tmp/touchsync-HASH when the path would not fit into 107 bytes)
///     FOLDER/log/postgres.log
///     FOLDER/lock      held while a process creates, starts or stops the cluster
struct ClusterPlace: Sendable {
    let folder: String
    let data: String
    let socket: String
    let logFolder: String
    /// Nil when the server runs as the current user.
    let owner: (user: UInt32, group: UInt32)?

    static let port = 5432

    var log: String { "\(logFolder)/postgres.log" }
    var lock: String { "\(folder)/lock" }

    /// - Parameter user: the name of the server's user, for root; nil: the present owner of the data, else the default.
    init(_ folder: String, user: String? = nil) throws(ClusterError) {
        try Self.makeFolder(folder, mode: 0o755)
        guard let resolved = realpath(folder, nil) else { throw ClusterError("cannot resolve \(folder)") }
        defer { free(resolved) }
        self.folder = String(cString: resolved)
        owner = try Self.serverUser(user, data: "\(self.folder)/data")
        let hash = Migration(version: 1, name: "", sql: self.folder).checksum
        var base = self.folder
        if let owner, !Self.mayEnter(base, owner) {
            try Self.makeFolder("/var/lib/touchsync", mode: 0o755)
            try Self.makeFolder("/var/lib/touchsync/\(hash)", mode: 0o755)
            base = "/var/lib/touchsync/\(hash)"
            try Self.link("\(self.folder)/data", to: "\(base)/data")
        }
        data = "\(base)/data"
        logFolder = "\(base)/log"
        let near = "\(base)/socket"
        socket = near.utf8.count + "/.s.PGSQL.\(Self.port)".utf8.count <= 107 ? near : "/tmp/touchsync-\(hash)"
        try Self.makeFolder(logFolder, mode: 0o700, owner: owner)
        try Self.makeFolder(socket, mode: 0o700, owner: owner)
    }

    /// Starts a program of PostgreSQL as the right user, which must not be root.
    func command(_ program: String, _ arguments: [String]) throws(ClusterError) -> (String, [String]) {
        guard let owner else { return (program, arguments) }
        guard let setpriv = ChildProcess.find("setpriv") else {
            throw ClusterError("setpriv (package util-linux) is needed to start PostgreSQL from root")
        }
        let user = ["--reuid=\(owner.user)", "--regid=\(owner.group)", "--clear-groups"]
        return (setpriv, user + ["--", program] + arguments)
    }

    /// The environment of PostgreSQL's programs: nothing that would change their defaults.
    static let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "HOME": "/tmp"]

    static func makeFolder(
        _ path: String, mode: mode_t, owner: (user: UInt32, group: UInt32)? = nil
    ) throws(ClusterError) {
        var partial = path.hasPrefix("/") ? "" : "."
        for component in path.split(separator: "/") {
            partial += "/\(component)"
            let isLast = partial.utf8.count >= path.utf8.count
            if mkdir(partial, isLast ? mode : 0o755) != 0, errno != EEXIST {
                throw ClusterError("cannot create \(partial): \(String(cString: strerror(errno)))")
            }
        }
        // A link created by another user in /tmp must not be followed.
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR || mode == 0o755 else {
            throw ClusterError("\(path) is not a directory")
        }
        guard mode == 0o700 else { return }
        let user = owner?.user ?? geteuid()
        // Only a folder of this process's user is given away: another's may hold links that others prepared.
        guard
            status.st_uid == user
                || status.st_uid == geteuid() && lchown(path, user, owner?.group ?? getegid()) == 0
        else {
            throw ClusterError("\(path) belongs to somebody else")
        }
        guard chmod(path, mode) == 0 else { throw ClusterError("cannot change the mode of \(path)") }
    }

    /// Links the expected path to the data. An existing cluster must not be replaced by another one.
    private static func link(_ path: String, to target: String) throws(ClusterError) {
        guard symlink(target, path) != 0 else { return }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(path, &buffer, buffer.count - 1)
        let found = length > 0 ? String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
        guard found == target else {
            throw ClusterError(
                "\(path) is there, but PostgreSQL's user may not enter it: make its parents passable (o+x)")
        }
    }

    /// For root: the owner of the data, else the named user, else `postgres`, or `nobody` where that does not exist.
    private static func serverUser(
        _ name: String?, data: String
    ) throws(ClusterError) -> (user: UInt32, group: UInt32)? {
        guard geteuid() == 0 else { return nil }
        var status = stat()
        if stat(data, &status) == 0, status.st_uid != 0 {
            let owner = (user: status.st_uid, group: status.st_gid)
            guard let name, getpwnam(name)?.pointee.pw_uid != owner.user else { return owner }
            throw ClusterError("\(data) belongs to another user than \(name): choose another folder, or that user")
        }
        for name in name.map({ [$0] }) ?? ["postgres", "nobody"] {
            if let entry = getpwnam(name) { return (entry.pointee.pw_uid, entry.pointee.pw_gid) }
        }
        throw ClusterError("PostgreSQL does not run as root, and there is no user \(name ?? "postgres or nobody")")
    }

    /// Whether the user may enter every folder on the path; checked by the mode bits, without supplementary groups,
    /// which are dropped anyway.
    private static func mayEnter(_ path: String, _ owner: (user: UInt32, group: UInt32)) -> Bool {
        var partial = ""
        return path.split(separator: "/").allSatisfy { component in
            partial += "/\(component)"
            var status = stat()
            guard stat(partial, &status) == 0 else { return false }
            if status.st_uid == owner.user { return status.st_mode & 0o100 != 0 }
            if status.st_gid == owner.group { return status.st_mode & 0o010 != 0 }
            return status.st_mode & 0o001 != 0
        }
    }
}
