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
