internal import Boot
internal import Glibc

/// The data folder of one pipeline: `DIR/postgres`, `DIR/log`, `DIR/run` (sockets, state file), `DIR/lock`; and
/// `DIR/sockets` instead, when the daemons have a user of their own.
package struct DataFolder: Sendable, Equatable {
    /// Absolute.
    package let path: String

    /// The longest name of a socket in the folder.
    static let longestSocketName = "committer-64.sock".utf8.count

    /// - Parameter path: as given; made absolute, need not exist.
    package init(_ path: String) {
        var path = path
        if !path.hasPrefix("/") {
            guard let here = getcwd(nil, 0) else { preconditionFailure("there is no working directory") }
            defer { free(here) }
            path = "\(String(cString: here))/\(path)"
        }
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.path = path
    }

    package var postgres: String { "\(self.path)/postgres" }
    package var log: String { "\(self.path)/log" }
    package var run: String { "\(self.path)/run" }
    package var stateFile: String { "\(self.run)/state.json" }
    /// The connection string of the running pipeline's database, with its password; for this user alone (0600).
    package var databaseFile: String { "\(self.run)/database" }
    /// What the admin servers of the pipeline ask for; for this user alone (0600).
    package var operatorTokenFile: String { OperatorTokenFile.path(in: self.path) }
    package var lockFile: String { "\(self.path)/lock" }

    /// The folder of the sockets: `DIR/run`, or a short one under /tmp if a socket's path would exceed the 107 bytes of
    /// a UNIX socket's path.
    /// - Parameters:
    ///   - user: the numeric user id of the daemons; another user's pipeline gets another folder.
    ///   - isShared: whether that user is also `up`'s. Another one gets `DIR/sockets`: it may not write where `up` does.
    package func sockets(user: UInt32, isShared: Bool = true) -> String {
        let near = isShared ? self.run : "\(self.path)/sockets"
        if near.utf8.count + 1 + Self.longestSocketName <= PeerAddress.longestSocketPath { return near }
        // FNV-1a, 64 bit: distinguishes folders; no security depends on it.
        let hash = self.path.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "/tmp/touchsync-\(user)-\(String(hash, radix: 16))"
    }

    /// Creates the missing folders. Nobody else may own or write one of them, who could have this process write where he
    /// chooses. The sockets' folder must be accessible to the daemons' user alone: everyone who can connect to a socket is
    /// trusted.
    /// - Parameter account: the daemons' user, if it is another one.
    func prepare(for account: ProcessUser.Account? = nil) throws(OperatorFailure) {
        for (folder, mode) in [(self.path, 0o755), (self.log, 0o700), (self.run, 0o700)] {
            try Self.make(folder, mode: mode_t(mode))
            try Self.requireOwn(folder)
        }
        let sockets = self.sockets(for: account)
        if sockets != self.run { try Self.make(sockets, mode: 0o700) }
        if let account, FileFacts(of: sockets, followsLink: false)?.owner == geteuid() {
            lchown(sockets, account.user, account.group)
        }
        try Self.requirePrivate(sockets, to: account?.user ?? geteuid())
    }

    /// The folder of the sockets of daemons that run as this process's user, or as another one.
    func sockets(for account: ProcessUser.Account?) -> String {
        self.sockets(user: account?.user ?? geteuid(), isShared: account == nil)
    }

    /// Keeps the connection string for the commands that work on the running pipeline's database.
    func note(database: String) throws(OperatorFailure) {
        unlink(self.databaseFile)
        if let refusal = FileBytes.replace(self.databaseFile, with: Array(database.utf8)) {
            throw OperatorFailure("\(self.databaseFile) \(refusal.reason)")
        }
    }

    /// The operator's token for a pipeline that starts: the one of its settings, or the folder's own.
    func keepOperatorToken(_ given: String?) throws(OperatorFailure) -> String {
        try self.token(OperatorTokenFile.keep(given, in: self.path))
    }

    /// The operator's token of the pipeline that runs here.
    func operatorToken() throws(OperatorFailure) -> String { try self.token(OperatorTokenFile.read(in: self.path)) }

    private func token(_ result: Result<String, SettingRefusal>) throws(OperatorFailure) -> String {
        switch result {
        case .success(let token): return token
        case .failure(let refusal): throw OperatorFailure("\(self.operatorTokenFile) \(refusal.reason)")
        }
    }

    /// Removes a killed predecessor's sockets. Only the lock's holder may call it.
    func removeStaleSockets(for account: ProcessUser.Account? = nil) {
        let folder = self.sockets(for: account)
        for name in FileBytes.names(in: folder) where name.contains(".sock") { unlink("\(folder)/\(name)") }
    }

    private static func make(_ path: String, mode: mode_t) throws(OperatorFailure) {
        if mkdir(path, mode) == 0 { return }
        let code = errno
        if code == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            try self.make(String(path[..<slash]), mode: 0o755)
            if mkdir(path, mode) == 0 { return }
        }
        guard FileFacts(of: path, followsLink: true)?.isFolder == true else {
            throw OperatorFailure("the folder \(path) cannot be made", errno: code)
        }
    }

    private static func requireOwn(_ path: String) throws(OperatorFailure) {
        guard let facts = FileFacts(of: path, followsLink: false), facts.isFolder else {
            throw OperatorFailure("\(path) is a symbolic link; name the folder itself, or another --data")
        }
        guard facts.owner == geteuid() else {
            throw OperatorFailure(
                "\(path) must belong to the user of touchsync up: its owner could put links into it; choose another --data"
            )
        }
        guard facts.permissions & 0o022 == 0 else {
            throw OperatorFailure("\(path) may be written by other users: chmod go-w \(path)")
        }
    }

    private static func requirePrivate(_ path: String, to user: UInt32) throws(OperatorFailure) {
        guard let facts = FileFacts(of: path, followsLink: false), facts.isFolder, facts.owner == user else {
            throw OperatorFailure("\(path) is not a folder of the daemons' user; remove it, or choose another --data")
        }
        if facts.permissions & 0o077 != 0, chmod(path, 0o700) != 0 {
            throw OperatorFailure("\(path) must be closed to other users (chmod 700)", errno: errno)
        }
    }
}

/// An exclusive lock on a data folder; released by deinit, or when the process ends, however it does.
final class DataFolderLock {
    private let descriptor: Int32

    /// The holder's role, as written in the lock file.
    enum Role: String {
        case up
        /// Cleans up after a killed `up`; an `up` that finds the keeper at work waits for it.
        case keeper
    }

    /// - Throws: when another `up` holds it; the message names that process.
    init(_ folder: DataFolder, as role: Role = .up) throws(OperatorFailure) {
        self.descriptor = try Self.open(folder)
        let isFree = flock(self.descriptor, LOCK_EX | LOCK_NB) == 0
        let owner = DataFolderLock.owner(of: folder)
        guard isFree || (role == .up && owner?.role == .keeper && flock(self.descriptor, LOCK_EX) == 0) else {
            close(self.descriptor)
            let owner = owner.map { " (process \($0.pid))" } ?? ""
            throw OperatorFailure(
                "another touchsync up\(owner) runs on \(folder.path); stop it, or choose another --data")
        }
        ftruncate(self.descriptor, 0)
        let text = Array("\(getpid())\n\(role.rawValue)\n".utf8)
        _ = text.withUnsafeBytes { pwrite(self.descriptor, $0.baseAddress, $0.count, 0) }
    }

    deinit { close(self.descriptor) }

    /// Opens or creates the file, which is this user's own: what another has put in its place is not touched.
    private static func open(_ folder: DataFolder) throws(OperatorFailure) -> Int32 {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = Glibc.open(folder.lockFile, flags, 0o600)
        guard descriptor >= 0 else { throw OperatorFailure("\(folder.lockFile) cannot be opened", errno: errno) }
        guard let facts = FileFacts(of: descriptor), facts.isRegular, facts.owner == geteuid() else {
            close(descriptor)
            throw OperatorFailure("\(folder.lockFile) is no file of this user's; remove it, or choose another --data")
        }
        return descriptor
    }

    /// The process that wrote the lock file, running or not.
    static func owner(of folder: DataFolder) -> (pid: Int32, role: Role)? {
        guard case .success(let bytes) = FileBytes.read(folder.lockFile, limit: 64) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.count == 2, let pid = Int32(lines[0]), let role = Role(rawValue: String(lines[1])) else {
            return nil
        }
        return (pid, role)
    }

    /// True while a process holds the lock.
    static func isHeld(_ folder: DataFolder) -> Bool {
        let descriptor = Glibc.open(folder.lockFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }
}
