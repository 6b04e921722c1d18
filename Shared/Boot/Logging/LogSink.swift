internal import Glibc
internal import NIOConcurrencyHelpers

/// Writes log lines to a descriptor without ever blocking the daemon.
///
/// Each line is one `write(2)`, after `poll(2)` reported the descriptor writable: a writable pipe has room for PIPE_BUF
/// bytes, more than the longest line. The descriptor is not made non-blocking, because that flag is shared with every
/// other process that has it, a terminal's shell included. A line without room is dropped and counted; the next line
/// that is written is preceded by the count.
package final class LogSink: Sendable {
    private let descriptor: Int32
    private let state = NIOLockedValueBox(State())

    private struct State {
        var dropped: UInt64 = 0
        var unreported: UInt64 = 0
    }

    /// - Parameter descriptor: must stay open; not owned.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    package static let standardError = LogSink(descriptor: STDERR_FILENO)

    /// The number of lines dropped so far because nobody read them.
    package var droppedLines: UInt64 { self.state.withLockedValue { $0.dropped } }

    /// Writes a line, or drops it.
    /// - Parameters:
    ///   - line: at most 4096 bytes, ends in a newline.
    ///   - notice: creates the line that reports the number of dropped lines.
    func write(_ line: [UInt8], notice: (UInt64) -> [UInt8]) {
        self.state.withLockedValue { state in
            if state.unreported > 0, self.put(notice(state.unreported)) { state.unreported = 0 }
            if !self.put(line) {
                state.dropped += 1
                state.unreported += 1
            }
        }
    }

    private func put(_ line: [UInt8]) -> Bool {
        var entry = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&entry, 1, 0) == 1, Int32(entry.revents) & POLLOUT != 0 else { return false }
        return line.withUnsafeBytes { bytes in
            var result: Int
            repeat {
                result = Glibc.write(self.descriptor, bytes.baseAddress, bytes.count)
            } while result < 0 && errno == EINTR
            return result == bytes.count
        }
    }
}

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
