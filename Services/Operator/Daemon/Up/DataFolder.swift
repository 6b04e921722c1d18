internal import Boot
internal import Glibc

/// The data folder of one pipeline: `DIR/postgres`, `DIR/log`, `DIR/run` (sockets, state file), `DIR/lock`.
package struct DataFolder: Sendable, Equatable {
    /// Absolute.
    package let path: String

    /// The longest name of a socket in the folder: a daemon's, with the suffix of a lane.
    static let longestSocketName = "gateway-64.face.sock.previews".utf8.count

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
    package var lockFile: String { "\(self.path)/lock" }

    /// The folder of the sockets: `DIR/run`, or a short one under /tmp if a socket's path would exceed the 107 bytes of
    /// a UNIX socket's path.
    /// - Parameter user: the numeric user id; another user's pipeline gets another folder.
    package func sockets(user: UInt32) -> String {
        if self.run.utf8.count + 1 + Self.longestSocketName <= PeerAddress.longestSocketPath { return self.run }
        // FNV-1a, 64 bit: distinguishes folders; no security depends on it.
        let hash = self.path.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "/tmp/touchsync-\(user)-\(String(hash, radix: 16))"
    }

    /// Creates the missing folders. The sockets' folder must be accessible to this user alone: everyone who can connect
    /// to a socket is trusted.
    func prepare() throws(OperatorFailure) {
        try Self.make(self.path, mode: 0o755)
        try Self.make(self.log, mode: 0o700)
        try Self.make(self.run, mode: 0o700)
        let sockets = self.sockets(user: geteuid())
        if sockets != self.run { try Self.make(sockets, mode: 0o700) }
        try Self.requirePrivate(sockets)
    }

    /// Removes a killed predecessor's sockets. Only the lock's holder may call it.
    func removeStaleSockets() {
        let folder = self.sockets(user: geteuid())
        guard let listing = opendir(folder) else { return }
        defer { closedir(listing) }
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.contains(".sock") else { continue }
            unlink("\(folder)/\(name)")
        }
    }

    /// Renames log files over 16 MiB to `NAME.log.1`.
    func rotateLog(of name: String) {
        let file = "\(self.log)/\(name).log"
        guard let facts = FileFacts(of: file, followsLink: true), facts.size > 16 << 20 else { return }
        rename(file, "\(file).1")
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

    private static func requirePrivate(_ path: String) throws(OperatorFailure) {
        guard let facts = FileFacts(of: path, followsLink: false), facts.isFolder, facts.owner == geteuid() else {
            throw OperatorFailure("\(path) is not a folder of this user; remove it, or choose another --data")
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
        self.descriptor = open(folder.lockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard self.descriptor >= 0 else { throw OperatorFailure("\(folder.lockFile) cannot be opened", errno: errno) }
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
        let descriptor = open(folder.lockFile, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }
}
