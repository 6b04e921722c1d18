internal import Boot
internal import CLinux
internal import Glibc
internal import Processes

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
    /// The child's descriptors of its pipes, in the order in which they are given to it.
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
        let pid: Int32
        do throws(ChildProcess.Failure) {
            pid = try ChildProcess.start(
                plan.executable, plan.arguments, environment: plan.environment,
                output: output.map { .descriptor($0) } ?? .file(plan.logFile),
                others: [ready.writing, self.parentPipe.reading], leading: .group
            ).processID
        } catch {
            close(ready.reading)
            throw OperatorFailure(FileBytes.reason(error.code))
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
}
