internal import Glibc
internal import JSONBytes

/// Reads a daemon's ready line from a pipe.
struct ReadyPipe {
    struct Line: Sendable, Equatable {
        var http: String?
        var url: String?
    }

    /// The maximum length of a ready line, bytes.
    static let longestLine = 4096

    let descriptor: Int32
    private var text: [UInt8] = []

    init(descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    enum Progress: Equatable {
        case waiting
        case ready(Line)
        /// End of file, or an invalid line: nothing more will come.
        case closed
    }

    mutating func read() -> Progress {
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            let count = buffer.withUnsafeMutableBytes { Glibc.read(self.descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return .waiting }
            guard count > 0 else { return .closed }
            self.text += buffer[..<count]
            if let end = self.text.firstIndex(of: UInt8(ascii: "\n")) {
                return Self.line(self.text[..<end]).map(Progress.ready) ?? .closed
            }
            if self.text.count > Self.longestLine { return .closed }
        }
    }

    /// Parses `{"ready":true,"http":…,"url":…}`.
    static func line(_ text: some Collection<UInt8>) -> Line? {
        guard let root = try? JSONValue(parsing: text), root["ready"]?.bool == true else { return nil }
        return Line(http: root["http"]?.string, url: root["url"]?.string)
    }
}
