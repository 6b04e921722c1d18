internal import CLinux
internal import Glibc

/// A program that was started: without a shell, with the environment that it is given, and without any descriptors but
/// those that it is given. Signals have their default effects.
package struct ChildProcess: Sendable {
    package let processID: Int32

    /// Where its standard output and standard error go.
    package enum Output: Sendable {
        case nowhere
        /// A file, to which they are appended. Whoever else may write to its folder may have put a link in its place,
        /// which is not followed.
        case file(String)
        case descriptor(Int32)
    }

    /// What it leads, so that signals of a terminal do not reach it.
    package enum Lead: Sendable {
        case group, session
    }

    package struct Failure: Error, CustomStringConvertible {
        package let program: String
        /// Why, as in errno.
        package let code: Int32

        package var description: String { "cannot run \(self.program): \(String(cString: strerror(self.code)))" }
    }

    /// Starts a program by its full path.
    ///
    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - environment: the complete environment.
    ///   - input: a descriptor to read from; nil for none.
    ///   - others: what it gets as descriptors 3, 4 and so on: descriptors above those.
    package static func start(
        _ program: String, _ arguments: [String], environment: [String: String], input: Int32? = nil,
        output: Output = .nowhere, others: [Int32] = [], leading lead: Lead
    ) throws(Failure) -> ChildProcess {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        switch output {
        case .nowhere: posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        case .file(let path):
            let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW
            posix_spawn_file_actions_addopen(&actions, 1, path, flags, 0o600)
        case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, 1)
        }
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        for (number, descriptor) in zip(Int32(3)..., others) {
            posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        }
        linux_spawn_close_from(&actions, 3 + Int32(others.count))
        var attributes = Self.attributes(leading: lead)
        defer { posix_spawnattr_destroy(&attributes) }
        let argv = ([program] + arguments).map { strdup($0) }
        let envp = environment.map { strdup("\($0.key)=\($0.value)") }
        defer { for pointer in argv + envp { free(pointer) } }
        var processID: Int32 = 0
        let code = posix_spawn(&processID, program, &actions, &attributes, argv + [nil], envp + [nil])
        guard code == 0 else { throw Failure(program: program, code: code) }
        return ChildProcess(processID: processID)
    }

    private static func attributes(leading lead: Lead) -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        var allSignals = sigset_t()
        sigfillset(&allSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setsigdefault(&attributes, &allSignals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let leads = lead == .group ? Int32(POSIX_SPAWN_SETPGROUP) : Int32(linux_spawn_new_session)
        posix_spawnattr_setflags(
            &attributes, Int16(leads | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)))
        return attributes
    }

    /// Runs a program in a session of its own to its end.
    /// - Returns: its exit status, or 128 plus the number of the signal that ended it.
    package static func run(
        _ program: String, _ arguments: [String], environment: [String: String], output: Output = .nowhere
    ) throws(Failure) -> Int32 {
        let child = try start(program, arguments, environment: environment, output: output, leading: .session)
        var status: Int32 = 0
        while waitpid(child.processID, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure(program: program, code: errno) }
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// True when the process has ended, or is not our child and does not exist. Reaps an ended child.
    package static func hasEnded(_ processID: Int32) -> Bool {
        var status: Int32 = 0
        if waitpid(processID, &status, WNOHANG) == processID { return true }
        if kill(processID, 0) != 0 { return errno == ESRCH }
        // Another process's child that is not reaped yet counts as ended.
        return Self.state(of: processID) == UInt8(ascii: "Z")
    }

    /// The letter of a process's state (proc(5)); nil when it cannot be read.
    private static func state(of processID: Int32) -> UInt8? {
        guard let file = fopen("/proc/\(processID)/stat", "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let text = bytes[..<fread(&bytes, 1, bytes.count, file)]
        // The program's name stands before it, in parentheses, and may have any characters.
        return text.lastIndex(of: UInt8(ascii: ")")).flatMap { text[$0...].dropFirst(2).first }
    }

    /// The full path of a program in PATH or the usual folders.
    package static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]
        return folders.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
