internal import JSONBytes
internal import Logging

/// One log record as a line of bytes; pure. Whatever a record contains, the result is one line: control characters,
/// including the terminal's escape, are escaped (CWE-117).
struct LogLine {
    /// The maximum length of a line including its newline: a pipe accepts up to PIPE_BUF (4096) bytes atomically.
    static let longest = 4096

    let origin: String
    let format: LogFormat
    /// True to begin each line with its priority, such as `<6>` (sd-daemon(3)).
    var marksPriority = false

    /// The line with its newline.
    /// - Parameters:
    ///   - time: RFC 3339, see ``WallClock/text()``.
    ///   - fields: in the order to print.
    func bytes(time: String, level: Logger.Level, message: String, fields: [(key: String, value: String)]) -> [UInt8] {
        var fields = fields
        let mark = self.marksPriority ? Self.mark(level) : []
        while true {
            let line =
                self.format == .json
                ? self.json(time, level, message, fields) : self.text(time, level, message, fields)
            if mark.count + line.count <= Self.longest { return mark + line }
            guard !fields.isEmpty else { return mark + self.cut(time, level, message) }
            // A record that is too long loses its last fields first, and says so.
            fields.removeLast(fields.last?.key == "log.cut" ? min(2, fields.count) : 1)
            if !fields.isEmpty { fields.append(("log.cut", "true")) }
        }
    }

    // The priorities of syslog(3).
    private static func mark(_ level: Logger.Level) -> [UInt8] {
        let priority =
            switch level {
            case .trace, .debug: 7
            case .info: 6
            case .notice: 5
            case .warning: 4
            case .error: 3
            case .critical: 2
            }
        return Array("<\(priority)>".utf8)
    }

    private func cut(_ time: String, _ level: Logger.Level, _ message: String) -> [UInt8] {
        // Escaping turns one byte into six at most.
        let short = String(decoding: message.utf8.prefix((Self.longest - 512) / 6), as: UTF8.self)
        return self.format == .json ? self.json(time, level, short, []) : self.text(time, level, short, [])
    }

    private func json(
        _ time: String, _ level: Logger.Level, _ message: String, _ fields: [(key: String, value: String)]
    ) -> [UInt8] {
        let text = JSONWriter.text { writer in
            writer.member("time", time)
            writer.member("level", level.rawValue)
            writer.member("name", self.origin)
            writer.member("message", message)
            if fields.isEmpty { return }
            writer.object("fields") { writer in
                for (key, value) in fields {
                    writer.key(string: key)
                    writer.value(value)
                }
            }
        }
        return text + [UInt8(ascii: "\n")]
    }

    private func text(
        _ time: String, _ level: Logger.Level, _ message: String, _ fields: [(key: String, value: String)]
    ) -> [UInt8] {
        var line = "\(time) \(level.rawValue.uppercased()) \(self.origin) "
        Self.escape(message, into: &line)
        for (key, value) in fields {
            line += " "
            Self.escape(key, into: &line)
            line += "="
            let isBare = !value.isEmpty && !value.utf8.contains { $0 == 0x20 || $0 == 0x22 || $0 == 0x3D }
            if isBare {
                Self.escape(value, into: &line)
            } else {
                line += "\""
                Self.escape(value, quote: true, into: &line)
                line += "\""
            }
        }
        line += "\n"
        return Array(line.utf8)
    }

    private static func escape(_ text: String, quote: Bool = false, into line: inout String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": line += "\\n"
            case "\r": line += "\\r"
            case "\t": line += "\\t"
            case "\\": line += "\\\\"
            case "\"" where quote: line += "\\\""
            // C0, DEL, C1, and Unicode's line and paragraph separators and direction overrides.
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}":
                line += "\\u{\(String(scalar.value, radix: 16))}"
            default: line.unicodeScalars.append(scalar)
            }
        }
    }
}
