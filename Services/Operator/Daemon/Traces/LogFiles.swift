internal import Boot
internal import Glibc

/// Log files, read line by line.
struct LogFiles {
    let paths: [String]

    /// The logs of a data folder, those that were rotated away included.
    init(in folder: DataFolder) throws(OperatorFailure) {
        guard let listing = opendir(folder.log) else {
            throw OperatorFailure("the logs in \(folder.log) cannot be read", errno: errno)
        }
        defer { closedir(listing) }
        var paths: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".log") || name.contains(".log.") { paths.append("\(folder.log)/\(name)") }
        }
        self.paths = paths.sorted()
    }

    init(_ paths: [String]) {
        self.paths = paths
    }

    /// The lines that contain a text, each without its newline.
    func lines(with text: String) throws(OperatorFailure) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for path in self.paths { try Self.read(path, Array(text.utf8), into: &lines) }
        return lines
    }

    /// A longer line is not a daemon's, and is cut.
    private static let longestLine = 64 << 10

    private static func read(_ path: String, _ text: [UInt8], into lines: inout [[UInt8]]) throws(OperatorFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        // A log that was rotated away meanwhile is under its next name.
        if descriptor < 0, errno == ENOENT, path.contains(".log.") { return }
        guard descriptor >= 0 else { throw OperatorFailure("\(path) cannot be read", errno: errno) }
        defer { close(descriptor) }
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        var rest: [UInt8] = []
        while true {
            let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw OperatorFailure("\(path) cannot be read", errno: errno) }
            if count == 0 { break }
            var parts = chunk[..<count].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let last = parts.removeLast()
            for part in parts {
                let line = rest + part
                rest.removeAll(keepingCapacity: true)
                if Self.contains(line, text) { lines.append(line) }
            }
            rest += last.prefix(Self.longestLine - min(rest.count, Self.longestLine))
        }
        if Self.contains(rest, text) { lines.append(rest) }
    }

    private static func contains(_ line: [UInt8], _ text: [UInt8]) -> Bool {
        guard let first = text.first, line.count >= text.count else { return false }
        return (0...line.count - text.count).contains { start in
            line[start] == first && line[start..<start + text.count].elementsEqual(text)
        }
    }
}
