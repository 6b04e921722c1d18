internal import Glibc

/// A listening local socket that we create ourselves and pass to libzmq (`ZMQ_USE_FD`).
///
/// libzmq by itself unlinks whatever is at the path when it binds, and again when it closes, some time after
/// `zmq_close` returned: it would steal the path of a live daemon and delete the socket of its own successor. Here a
/// live listener is an error, a stale file is replaced atomically (`rename`), and closing removes the file only if it
/// is still ours.
struct LocalListener {
    /// The listening descriptor; libzmq closes it after it was passed to a bound socket.
    let descriptor: Int32
    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// How many connections wait to be accepted, on any endpoint.
    static let backlog: Int32 = 256

    /// Creates the directory (0700) if it is missing, then listens at `path`.
    init(path: String) throws(MeshError) {
        try LocalListener.makeDirectory(of: path)
        if LocalListener.answers(path) {
            throw MeshError(.addressInUse, "another process listens on ipc://\(path)", errno: EADDRINUSE)
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw MeshError(errno: errno, "cannot make a local socket") }
        do throws(MeshError) {
            (self.device, self.inode) = try LocalListener.listen(descriptor, path)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.path = path
    }

    /// Closes a descriptor that was never passed to libzmq.
    func abandon() {
        Glibc.close(self.descriptor)
        self.removeFile()
    }

    func removeFile() {
        if let (device, inode) = LocalListener.identity(of: self.path), device == self.device, inode == self.inode {
            unlink(self.path)
        }
    }

    private static func listen(_ descriptor: Int32, _ path: String) throws(MeshError) -> (dev_t, ino_t) {
        // Bound under a temporary name first: from the rename on, every client meets a listening socket. Near the
        // length limit there is no room for another name; then the stale file is removed first.
        let suffix = ".\(getpid())"
        let fits = path.utf8.count + suffix.utf8.count <= Endpoint.maximumPathBytes
        let first = fits ? path + suffix : path
        unlink(first)
        guard LocalListener.withAddress(first, { bind(descriptor, $0, $1) }) == 0 else {
            throw MeshError(errno: errno, "cannot bind ipc://\(path)")
        }
        guard chmod(first, 0o600) == 0, Glibc.listen(descriptor, Self.backlog) == 0 else {
            let number = errno
            unlink(first)
            throw MeshError(errno: number, "cannot listen on ipc://\(path)")
        }
        guard let identity = LocalListener.identity(of: first), !fits || rename(first, path) == 0 else {
            let number = errno
            unlink(first)
            throw MeshError(errno: number, "cannot place ipc://\(path)")
        }
        return identity
    }

    private static func answers(_ path: String) -> Bool {
        let probe = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard probe >= 0 else { return false }
        defer { Glibc.close(probe) }
        // EAGAIN: it listens, but its backlog is full.
        return LocalListener.withAddress(path, { connect(probe, $0, $1) }) == 0 || errno == EAGAIN
    }

    // The path fits: an `Endpoint` is never longer.
    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    private static func identity(of path: String) -> (dev_t, ino_t)? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return (status.st_dev, status.st_ino)
    }

    private static func makeDirectory(of path: String) throws(MeshError) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return }
        let directory = String(path[..<slash])
        var status = stat()
        if stat(directory, &status) == 0 { return }
        try LocalListener.makeDirectory(of: directory)
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
            throw MeshError(errno: errno, "cannot make the directory '\(directory)'")
        }
    }
}
