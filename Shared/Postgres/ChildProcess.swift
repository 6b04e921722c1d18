import CLinux
import Glibc

/// Starts programs for ``PrivateCluster``: without a shell, in their own session, inheriting only three descriptors.
package struct ChildProcess: Sendable {
    /// The process's number.
    package let processID: Int32

    /// Starts a program by its full path.
    ///
    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - environment: the complete environment.
    ///   - log: file for its output, opened for appending; nil for none.
    ///   - input: a descriptor to read from; nil for none.
    package static func start(
        _ program: String, _ arguments: [String], environment: [String: String], log: String?, input: Int32? = nil
    ) throws(ClusterError) -> ChildProcess {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        // The server's user, who is not always this one, may have put a link in its place.
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW
        posix_spawn_file_actions_addopen(&actions, 1, log ?? "/dev/null", flags, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // The server must not inherit a listening socket.
        linux_spawn_close_from(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        var allSignals = sigset_t()
        sigfillset(&allSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setsigdefault(&attributes, &allSignals)
        posix_spawnattr_setflags(
            &attributes,
            Int16(Int32(linux_spawn_new_session) | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)))
        let argv = ([program] + arguments).map { strdup($0) }
        let envp = environment.map { strdup("\($0.key)=\($0.value)") }
        defer { for pointer in argv + envp { free(pointer) } }
        var processID: Int32 = 0
        let status = posix_spawn(&processID, program, &actions, &attributes, argv + [nil], envp + [nil])
        guard status == 0 else { throw ClusterError("cannot run \(program): \(String(cString: strerror(status)))") }
        return ChildProcess(processID: processID)
    }

    /// Runs a program to its end and returns its exit status, or 128 plus the signal's number.
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String], log: String?
    ) throws(ClusterError) -> Int32 {
        let child = try start(program, arguments, environment: environment, log: log)
        var status: Int32 = 0
        while waitpid(child.processID, &status, 0) < 0 {
            guard errno == EINTR else { throw ClusterError("cannot wait for \(program)") }
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// True when the process has ended, or is not our child and does not exist. Reaps an ended child.
    package static func hasEnded(_ processID: Int32) -> Bool {
        var status: Int32 = 0
        if waitpid(processID, &status, WNOHANG) == processID { return true }
        if kill(processID, 0) != 0 { return errno == ESRCH }
        // Another process's child that is not reaped yet counts as ended.
        guard let text = TextFile.read("/proc/\(processID)/stat"), let end = text.lastIndex(of: ")") else {
            return false
        }
        return text[end...].dropFirst(2).first == "Z"
    }

    /// The full path of a program in PATH or the usual folders.
    static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]
        return folders.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}

/// Reads and writes small files as a whole.
enum TextFile {
    /// The whole text, at most the last 64 KiB; nil when it cannot be read.
    static func read(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        if fseek(file, 0, SEEK_END) == 0, ftell(file) > 65536 { fseek(file, -65536, SEEK_END) } else { rewind(file) }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Appends to a file that exists; a link is not followed.
    static func append(_ text: String, to path: String) throws(ClusterError) {
        let file = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw ClusterError("cannot write \(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        let bytes = [UInt8](text.utf8)
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw ClusterError("cannot write \(path): \(String(cString: strerror(errno)))")
        }
    }

    /// Replaces the file atomically.
    static func write(_ text: String, to path: String, mode: mode_t = 0o600) throws(ClusterError) {
        let temporary = "\(path).new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else { throw ClusterError("cannot write \(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        let bytes = [UInt8](text.utf8)
        guard Glibc.write(file, bytes, bytes.count) == bytes.count, rename(temporary, path) == 0 else {
            throw ClusterError("cannot write \(path): \(String(cString: strerror(errno)))")
        }
    }
}
