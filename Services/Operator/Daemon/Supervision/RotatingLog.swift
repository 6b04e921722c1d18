internal import Boot
internal import Glibc

/// How much of a process's log is kept.
package struct LogLimit: Sendable, Equatable {
    /// The largest file, bytes.
    package var bytes = 16 << 20
    /// The number of files: the one that is written to and those before it.
    package var files = 4

    package init() {}
}

/// A log in several files of bounded size: `NAME.log` is written to; `NAME.log.1` is the one before, `NAME.log.2` the one
/// before that. A full file is renamed and the oldest one removed, between two writes, so that nothing is lost and no
/// line is torn apart (unless it is longer than a file). All of them together never exceed the limit, once files of a larger
/// earlier one have been replaced.
struct RotatingLog {
    let path: String
    let limit: LogLimit
    private var descriptor: Int32 = -1
    private var size = 0
    /// Why the last write failed; nil after a good one.
    private(set) var failure: String?

    /// Continues the files that exist.
    init(path: String, limit: LogLimit = LogLimit()) {
        self.path = path
        self.limit = limit
        // What an earlier, larger limit left behind.
        var number = limit.files
        while unlink(self.file(number)) == 0 { number += 1 }
        self.open(O_APPEND)
    }

    mutating func close() {
        if self.descriptor >= 0 { Glibc.close(self.descriptor) }
        self.descriptor = -1
    }

    /// Appends bytes, as many as the disk accepts.
    mutating func append(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            let part = self.fitting(rest)
            if part.isEmpty {
                self.rotate()
            } else {
                self.write(part)
                rest = rest[part.endIndex...]
            }
        }
    }

    /// What of these bytes belongs into the present file: whole lines, or a piece of one that is longer than a file.
    private func fitting(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let room = bytes.prefix(max(0, self.limit.bytes - self.size))
        if room.count == bytes.count { return room }
        if let end = room.lastIndex(of: UInt8(ascii: "\n")) { return room[...end] }
        return self.size == 0 ? room : room.prefix(0)
    }

    private mutating func write(_ bytes: ArraySlice<UInt8>) {
        if self.descriptor < 0 { self.open(O_APPEND) }
        // Counted also when the disk is full: the loop above ends, and there is space again after some rotations.
        self.size += bytes.count
        if self.descriptor >= 0 {
            self.failure = FileBytes.write(Array(bytes), to: self.descriptor) ? nil : FileBytes.reason(errno)
        }
    }

    private mutating func rotate() {
        self.close()
        unlink(self.file(self.limit.files - 1))
        for number in stride(from: self.limit.files - 2, through: 0, by: -1) {
            rename(self.file(number), self.file(number + 1))
        }
        self.open(O_TRUNC)
    }

    private mutating func open(_ mode: Int32) {
        self.descriptor = Glibc.open(self.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | mode, 0o600)
        self.failure = self.descriptor < 0 ? FileBytes.reason(errno) : nil
        self.size = mode == O_TRUNC ? 0 : FileFacts(of: self.path, followsLink: true)?.size ?? 0
    }

    /// 0: the one that is written to.
    private func file(_ number: Int) -> String { number == 0 ? self.path : "\(self.path).\(number)" }

    /// The last lines of a file, of its last 4 KiB; none when it cannot be read.
    static func lastLines(of path: String, count: Int) -> [String] {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { Glibc.close(descriptor) }
        let size = lseek(descriptor, 0, SEEK_END)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, max(0, size - 4096)) }
        let text = String(decoding: bytes.prefix(max(0, read)), as: UTF8.self)
        return text.split(separator: "\n").suffix(count).map(String.init)
    }
}
