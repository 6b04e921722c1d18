#if os(Linux)
    import NIOCore
    import NIOHTTP1

    /// The heads of a server's answers to a request to upgrade, and the bytes behind them, which belong to the new protocol.
    ///
    /// The cost is linear in the bytes, however they are cut into packets.
    struct UpgradeAnswer {
        /// The maximum size of all heads together, in bytes.
        static let limit = 64 << 10

        private var input = ByteBuffer()
        private var searched = 0
        private var consumed = 0

        /// What has arrived behind the last head.
        var rest: ByteBuffer { self.input }

        /// Whether nothing has arrived.
        var isEmpty: Bool { self.consumed == 0 && self.input.readableBytes == 0 }

        /// Whether it begins as TLS does, with an alert or a handshake, where HTTP was expected.
        var isTLS: Bool {
            let bytes = self.input.readableBytesView
            return self.consumed == 0 && (bytes.starts(with: [0x15, 0x03]) || bytes.starts(with: [0x16, 0x03]))
        }

        mutating func append(_ bytes: ByteBuffer) { self.input.writeImmutableBuffer(bytes) }

        /// The final answer, once it is there: heads of status 100 to 199 announce another one, except 101 (RFC 9110,
        /// 15.2).
        mutating func next() throws(TransportError) -> HTTPResponseHead? {
            while let text = try self.head() {
                guard let head = Self.parse(text) else {
                    throw TransportError(.notTouchSync, "The server's answer is not HTTP.")
                }
                if head.status.code >= 200 || head.status == .switchingProtocols { return head }
            }
            return nil
        }

        /// The next head without its empty line.
        private mutating func head() throws(TransportError) -> String? {
            let end = "\r\n\r\n".utf8
            let bytes = self.input.readableBytesView
            let unsearched = bytes.dropFirst(max(self.searched - end.count + 1, 0))
            guard let found = unsearched.firstRange(of: end) else {
                self.searched = bytes.count
                guard self.consumed + bytes.count <= Self.limit else { throw Self.overflow }
                return nil
            }
            let size = found.upperBound - bytes.startIndex
            self.searched = 0
            self.consumed += size
            guard self.consumed <= Self.limit else { throw Self.overflow }
            defer { self.input.moveReaderIndex(forwardBy: size) }
            return self.input.getString(at: self.input.readerIndex, length: size - end.count)
        }

        private static var overflow: TransportError {
            TransportError(.notTouchSync, "The head of the server's answer has more than \(Self.limit) bytes.")
        }
    }

    // MARK: - HTTP

    extension UpgradeAnswer {
        /// A head of HTTP/1.0 or 1.1 (RFC 9112, 4 and 5); nil if it is none.
        private static func parse(_ text: String) -> HTTPResponseHead? {
            let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
            guard let status = Self.status(lines[0].utf8) else { return nil }
            var headers = HTTPHeaders()
            for line in lines.dropFirst() {
                guard let (name, value) = Self.field(line.utf8) else { return nil }
                headers.add(name: name, value: value)
            }
            return HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        }

        private static func status(_ line: Substring.UTF8View) -> HTTPResponseStatus? {
            guard line.starts(with: "HTTP/1.1 ".utf8) || line.starts(with: "HTTP/1.0 ".utf8) else { return nil }
            let rest = line.dropFirst(9)
            guard let code = Int(String(Substring(rest.prefix(3)))), (100...999).contains(code) else { return nil }
            guard rest.count == 3 || rest.dropFirst(3).first == UInt8(ascii: " ") else { return nil }
            return HTTPResponseStatus(statusCode: code)
        }

        private static func field(_ line: Substring.UTF8View) -> (name: String, value: String)? {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { return nil }
            let name = line[..<colon]
            // A space would be a folded line or a name that others read differently.
            guard name.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
            let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
            var value = line[colon...].dropFirst().drop(while: isSpace)
            while let last = value.last, isSpace(last) { value.removeLast() }
            guard value.allSatisfy({ $0 >= 0x20 || $0 == UInt8(ascii: "\t") }) else { return nil }
            return (String(Substring(name)), String(Substring(value)))
        }
    }
#endif
