internal import Glibc

/// The end of a log file.
enum LogTail {
    /// The last lines of a file, of its last 4 KiB; none when it cannot be read.
    static func lines(of path: String, count: Int) -> [String] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let size = lseek(descriptor, 0, SEEK_END)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, max(0, size - 4096)) }
        let text = String(decoding: bytes.prefix(max(0, read)), as: UTF8.self)
        return text.split(separator: "\n").suffix(count).map(String.init)
    }
}
