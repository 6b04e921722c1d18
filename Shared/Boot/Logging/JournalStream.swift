internal import Glibc

/// The journal of systemd as the reader of a log.
enum JournalStream {
    /// True when a descriptor leads to the journal, which reads `<6>` at the beginning of a line as its priority.
    /// - Parameter environment: JOURNAL_STREAM names the stream by its device and inode (systemd.exec(5)).
    static func isStandardError(_ environment: [String: String], descriptor: Int32 = STDERR_FILENO) -> Bool {
        var facts = stat()
        guard let stream = environment["JOURNAL_STREAM"], fstat(descriptor, &facts) == 0 else { return false }
        return stream == "\(facts.st_dev):\(facts.st_ino)"
    }
}
