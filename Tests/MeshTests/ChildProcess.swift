import Glibc
import NIOConcurrencyHelpers

/// The `mesh-peer` that was built beside these tests, in a process of its own; killed at the latest when this dies.
final class ChildProcess: Sendable {
    let pid: pid_t
    private let reaped = NIOLockedValueBox(false)

    init(_ mode: String, _ endpoint: String) throws {
        var pid = pid_t()
        let path = try ChildProcess.executable()
        let arguments: [UnsafeMutablePointer<CChar>?] = [strdup(path), strdup(mode), strdup(endpoint), nil]
        defer { for argument in arguments { free(argument) } }
        let code = posix_spawn(&pid, path, nil, nil, arguments, environ)
        guard code == 0 else { throw Timeout(description: "posix_spawn \(path): \(code)") }
        self.pid = pid
    }

    deinit { self.end() }

    /// SIGSTOP; returns when all its threads have stopped.
    func freeze() {
        kill(self.pid, SIGSTOP)
        var status: Int32 = 0
        waitpid(self.pid, &status, WUNTRACED)
    }

    /// SIGCONT.
    func thaw() { kill(self.pid, SIGCONT) }

    /// SIGKILL, and wait for it.
    func end() {
        let first = self.reaped.withLockedValue { reaped in
            defer { reaped = true }
            return !reaped
        }
        guard first else { return }
        kill(self.pid, SIGKILL)
        var status: Int32 = 0
        waitpid(self.pid, &status, 0)
    }

    // The test bundle is beside it: find the bundle among what this process has mapped.
    private static func executable() throws -> String {
        guard let maps = fopen("/proc/self/maps", "r") else { throw Timeout(description: "no /proc/self/maps") }
        defer { fclose(maps) }
        var line = [CChar](repeating: 0, count: 8192)
        while fgets(&line, Int32(line.count), maps) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard let slash = text.firstIndex(of: "/"), let end = text[slash...].lastIndex(of: "/") else { continue }
            let candidate = String(text[slash..<end]) + "/mesh-peer"
            if access(candidate, X_OK) == 0 { return candidate }
        }
        throw Timeout(description: "mesh-peer was not built beside the tests")
    }
}
