internal import Glibc

/// Reads and writes small files as a whole, without Foundation. Blocking: for start-up and tools only.
package enum FileBytes {
    /// Reads a file, unless something speaks against it. What is judged is the open file, so that nobody can put another
    /// one in its place before it is read.
    /// - Parameters:
    ///   - limit: the maximum size, bytes; a longer file is rejected.
    ///   - objection: a reason not to read a file with this metadata; nil when there is none.
    /// - Returns: its bytes or a reason such as `cannot be read: No such file or directory`.
    package static func read(
        _ path: String, limit: Int = 1 << 20, unless objection: (FileFacts) -> SettingRefusal? = { _ in nil }
    ) -> Result<[UInt8], SettingRefusal> {
        self.read(path, limit: limit, flags: 0, unless: objection)
    }

    /// Reads a file that belongs to this process's user, unless that is root, and that nobody else can read or write. A
    /// link is not followed.
    package static func readPrivate(_ path: String, limit: Int = 1 << 20) -> Result<[UInt8], SettingRefusal> {
        self.read(path, limit: limit, flags: O_NOFOLLOW) { facts in
            guard facts.isRegular else { return SettingRefusal("is not a regular file") }
            guard facts.owner == geteuid() || geteuid() == 0 else { return SettingRefusal("belongs to another user") }
            return facts.permissions & 0o077 == 0
                ? nil : SettingRefusal("may be read or written by others than its owner: chmod 600 \(path)")
        }
    }

    private static func read(
        _ path: String, limit: Int, flags: Int32, unless objection: (FileFacts) -> SettingRefusal?
    ) -> Result<[UInt8], SettingRefusal> {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | flags)
        guard descriptor >= 0 else { return .failure(SettingRefusal("cannot be read: \(self.reason(errno))")) }
        defer { close(descriptor) }
        guard let facts = FileFacts(of: descriptor) else {
            return .failure(SettingRefusal("cannot be examined: \(self.reason(errno))"))
        }
        if let refusal = objection(facts) { return .failure(refusal) }
        return self.read(descriptor, limit: limit)
    }

    /// Reads an open file, pipe or socket up to its end; without the byte order mark that some editors put before a text.
    package static func read(_ descriptor: Int32, limit: Int = 1 << 20) -> Result<[UInt8], SettingRefusal> {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return .failure(SettingRefusal("cannot be read: \(self.reason(errno))"))
            }
            if count == 0 {
                return .success(bytes.starts(with: self.byteOrderMark) ? Array(bytes.dropFirst(3)) : bytes)
            }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { return .failure(SettingRefusal("is longer than \(limit) bytes")) }
        }
    }

    /// U+FEFF in UTF-8.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Replaces a file atomically: a reader sees the old or the new text, never a part (rename(2)). A link is replaced,
    /// not what it leads to.
    /// - Parameter former: the file whose owner and mode the new one gets; nil: this user's alone, 0600.
    /// - Returns: nil, or the reason why the old file was kept.
    package static func replace(_ path: String, with bytes: [UInt8], like former: FileFacts? = nil) -> SettingRefusal? {
        let draft = "\(path).\(getpid()).new"
        // Whatever has this name is an earlier process's, or meant to mislead this one.
        unlink(draft)
        if let refusal = self.create(draft, with: bytes, like: former) { return refusal }
        guard rename(draft, path) == 0 else {
            let refusal = SettingRefusal("cannot be replaced: \(self.reason(errno))")
            unlink(draft)
            return refusal
        }
        return nil
    }

    /// Creates a file, which must not exist, nor a link of that name (O_EXCL, open(2)).
    /// - Parameter model: the file whose owner and mode the new one gets; nil: this user's alone, 0600.
    /// - Returns: nil, or the reason why there is none now.
    package static func create(_ path: String, with bytes: [UInt8], like model: FileFacts? = nil) -> SettingRefusal? {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return SettingRefusal("cannot be created: \(self.reason(errno))") }
        if let model {
            // Others cannot give a file away; then it is theirs.
            if model.owner != geteuid() { fchown(descriptor, model.owner, model.group) }
            fchmod(descriptor, mode_t(model.permissions & 0o777))
        }
        guard self.write(bytes, to: descriptor) else {
            let refusal = SettingRefusal("cannot be written: \(self.reason(errno))")
            close(descriptor)
            unlink(path)
            return refusal
        }
        close(descriptor)
        return nil
    }

    /// Writes all bytes to a descriptor; false after an error, which is in `errno`.
    @discardableResult
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// The text of an errno.
    package static func reason(_ code: Int32) -> String {
        // What the system calls too many levels of links is mostly one, where none is followed.
        if code == ELOOP { return "It is a symbolic link" }
        var buffer = [CChar](repeating: 0, count: 256)
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
