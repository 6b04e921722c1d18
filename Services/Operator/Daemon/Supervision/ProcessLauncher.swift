internal import Boot
internal import CLinux
internal import Glibc

/// A program to start.
package struct ProcessPlan: Sendable, Equatable {
    /// Absolute path.
    package var executable: String
    /// Without the program's name.
    package var arguments: [String]
    /// All of it: nothing is inherited.
    package var environment: [String: String]
    /// The file of its standard output and standard error.
    package var logFile: String
}

/// Starts processes that report readiness on a pipe and detect the supervisor's end on another.
///
/// A child gets exactly five descriptors: /dev/null, its log twice, the write end of its ready pipe as 3, and the read
/// end of the supervisor's pipe as 4; all other descriptors are closed. It leads its own process group, so that Ctrl-C
/// in a terminal reaches only the supervisor, which stops the stages in order.
final class ProcessLauncher {
    /// The child's descriptors of its pipes.
    static let readyDescriptor: Int32 = 3
    static let parentDescriptor: Int32 = 4

    private let parentPipe: (reading: Int32, writing: Int32)

    init() throws(OperatorFailure) {
        self.parentPipe = try Self.pipe()
    }

    deinit {
        close(self.parentPipe.reading)
        close(self.parentPipe.writing)
    }

    /// Starts a process.
    /// - Parameter output: where standard output and standard error go instead of the log file.
    /// - Returns: its id, a descriptor that is readable when it has ended, and the read end of its ready pipe; the
    ///   caller closes both and reaps the process.
    func launch(_ plan: ProcessPlan, output: Int32? = nil) throws(OperatorFailure) -> (
        pid: Int32, process: Int32, ready: Int32
    ) {
        let ready = try Self.pipe()
        defer { close(ready.writing) }
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        // The pipes' descriptors are above 4 (see pipe()), so no step overwrites what a later one needs.
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
        if let output {
            posix_spawn_file_actions_adddup2(&files, output, 1)
        } else {
            let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW
            posix_spawn_file_actions_addopen(&files, 1, plan.logFile, flags, 0o600)
        }
        posix_spawn_file_actions_adddup2(&files, 1, 2)
        posix_spawn_file_actions_adddup2(&files, ready.writing, Self.readyDescriptor)
        posix_spawn_file_actions_adddup2(&files, self.parentPipe.reading, Self.parentDescriptor)
        linux_spawn_close_from(&files, Self.parentDescriptor + 1)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var pid: Int32 = 0
        let code = Self.withCStrings([plan.executable] + plan.arguments) { arguments in
            Self.withCStrings(plan.environment.map { "\($0.key)=\($0.value)" }) { variables in
                posix_spawn(&pid, plan.executable, &files, &attributes, arguments, variables)
            }
        }
        guard code == 0 else {
            close(ready.reading)
            throw OperatorFailure(FileBytes.reason(code))
        }
        let process = linux_process_descriptor(pid)
        guard process >= 0 else {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
            close(ready.reading)
            throw OperatorFailure("no process descriptor (Linux 5.3 or newer is needed)", errno: -process)
        }
        return (pid, process, ready.reading)
    }

    /// A pipe whose ends are above descriptor 9 and closed on exec.
    static func pipe() throws(OperatorFailure) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { throw OperatorFailure("no pipe", errno: errno) }
        let moved = ends.map { end in
            let high = fcntl(end, F_DUPFD_CLOEXEC, 10)
            close(end)
            return high
        }
        guard moved.allSatisfy({ $0 >= 0 }) else { throw OperatorFailure("no pipe", errno: errno) }
        return (moved[0], moved[1])
    }

    private static func withCStrings<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
