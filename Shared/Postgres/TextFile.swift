import Glibc

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
        guard self.write(text, to: open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC)) else {
            throw ClusterError("cannot write \(path): \(String(cString: strerror(errno)))")
        }
    }

    /// Replaces the file atomically. Nobody else can read it.
    static func write(_ text: String, to path: String) throws(ClusterError) {
        let draft = "\(path).new"
        unlink(draft)
        guard self.write(text, to: open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)),
            rename(draft, path) == 0
        else { throw ClusterError("cannot write \(path): \(String(cString: strerror(errno)))") }
    }

    /// Writes the text to a file that was opened, and closes it. False when it was not, with the reason in `errno`.
    private static func write(_ text: String, to file: Int32) -> Bool {
        guard file >= 0 else { return false }
        defer { close(file) }
        let bytes = [UInt8](text.utf8)
        return Glibc.write(file, bytes, bytes.count) == bytes.count
    }
}
