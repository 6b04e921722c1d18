internal import Glibc

/// The output of one process and its successors: a pipe from them to a ``RotatingLog``. The supervisor has both ends, so
/// that a restarted process writes to the same pipe. Daemons never wait for it: they drop and count lines while it is
/// full.
struct ProcessLog {
    /// The end that the processes write to.
    let input: Int32
    /// Readable when something was written.
    let output: Int32
    private var log: RotatingLog
    private var chunk = [UInt8](repeating: 0, count: 65536)
    private var isFailureKnown = false

    /// Bytes that the pipe holds while the supervisor does something else.
    private static let pipeBytes: Int32 = 1 << 18
    /// F_SETPIPE_SZ of fcntl(2), which is a GNU extension.
    private static let setPipeSize: Int32 = 1031
    /// Chunks that are read before the supervisor turns to something else.
    private static let chunksPerTurn = 8

    init(path: String, limit: LogLimit) throws(OperatorFailure) {
        (self.output, self.input) = try ProcessLauncher.pipe()
        _ = fcntl(self.output, F_SETFL, O_NONBLOCK)
        _ = fcntl(self.input, Self.setPipeSize, Self.pipeBytes)
        self.log = RotatingLog(path: path, limit: limit)
    }

    /// Moves what was written into the files, for one turn.
    /// - Returns: why that fails, when it begins to.
    mutating func drain() -> String? {
        for _ in 0..<Self.chunksPerTurn {
            let count = self.chunk.withUnsafeMutableBytes { read(self.output, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            self.log.append(self.chunk[..<count])
        }
        guard let failure = self.log.failure else {
            self.isFailureKnown = false
            return nil
        }
        defer { self.isFailureKnown = true }
        return self.isFailureKnown ? nil : "\(self.log.path) cannot be written: \(failure)"
    }

    /// Moves the rest, and closes everything.
    mutating func close() {
        var isEmpty = false
        while !isEmpty {
            var entry = pollfd(fd: self.output, events: Int16(POLLIN), revents: 0)
            isEmpty = poll(&entry, 1, 0) < 1
            if !isEmpty { _ = self.drain() }
        }
        Glibc.close(self.input)
        Glibc.close(self.output)
        self.log.close()
    }
}
