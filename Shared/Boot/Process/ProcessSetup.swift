internal import CLinux
internal import Glibc

/// Initialisation common to all processes.
package enum ProcessSetup {
    /// From this size on, a block of memory that was freed is given back to the system, bytes. Below it are the buffers
    /// of every turn; above it snapshots of large rooms, of which a daemon should hold no more than those under way.
    private static let largeBlock: Int32 = 1 << 20

    /// Ignores SIGPIPE (a write to a closed pipe or socket then fails with EPIPE), raises the descriptor limit to the
    /// system's maximum, and has large blocks of memory given back.
    /// - Returns: the descriptor limit in force.
    @discardableResult
    package static func prepare() -> Int {
        signal(SIGPIPE, SIG_IGN)
        linux_return_blocks_from(Self.largeBlock)
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// What a daemon does without: core dumps, which would hold tokens and people's texts, and rights that an executed
    /// program could bring.
    package static func confine() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = linux_renounce_privileges()
    }

    /// Removes secrets from the command line of this process: it executes its own program again, as the same process,
    /// with the secrets in the environment. Returns when there are none, or when the program cannot be executed.
    package static func hideSecrets(_ secrets: SecretArguments) {
        let arguments = CommandLine.arguments
        guard let (others, variables) = secrets.separated(Array(arguments.dropFirst())) else { return }
        for (name, value) in variables { setenv(name, value, 1) }
        let copies = (arguments.prefix(1) + others).map { strdup($0) } + [nil]
        // By its path, after which the system names the process; by the link if the file was replaced meanwhile.
        for program in [self.programPath, "/proc/self/exe"] { execv(program, copies) }
        for copy in copies { free(copy) }
    }

    /// The path of the running program.
    package static var programPath: String { FileBytes.link(at: "/proc/self/exe") ?? "" }

    package static func environment() -> [String: String] {
        var result: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let pair = String(cString: text)
            if let equals = pair.firstIndex(of: "=") {
                result[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
            }
            entry += 1
        }
        return result
    }

    /// Writes the whole text to standard output.
    package static func print(_ text: String) { FileBytes.write(Array(text.utf8), to: STDOUT_FILENO) }

    /// Writes the whole text to standard error.
    package static func complain(_ text: String) { FileBytes.write(Array(text.utf8), to: STDERR_FILENO) }

    /// Makes the kernel end the process after this many seconds: the last resort when a drain hangs.
    static func endLatest(in seconds: UInt32) { alarm(seconds) }
}
