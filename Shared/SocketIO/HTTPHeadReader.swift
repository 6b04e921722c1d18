/// Why a head was rejected: the status to answer.
struct HTTPHeadFailure: Error, Equatable {
    var status: UInt16
}

/// Parses one complete head (ending in an empty line).
struct HTTPHeadReader {
    let bytes: [UInt8]
    let limits: HTTPLimits

    func read() -> Result<HTTPRequestHead, HTTPHeadFailure> {
        Result { () throws(HTTPHeadFailure) in try self.parse() }
    }

    private func parse() throws(HTTPHeadFailure) -> HTTPRequestHead {
        guard let lineEnd = self.endOfLine(from: 0) else { throw HTTPHeadFailure(status: 400) }
        let line = self.bytes[0..<lineEnd]
        guard let firstSpace = line.firstIndex(of: 0x20), let lastSpace = line.lastIndex(of: 0x20),
            firstSpace < lastSpace, firstSpace > 0, line[..<firstSpace].allSatisfy(HTTPGrammar.isToken)
        else { throw HTTPHeadFailure(status: 400) }
        let isHTTP11 = try self.version(lastSpace + 1..<lineEnd)
        let (path, query) = try self.target(
            firstSpace + 1..<lastSpace, isOptions: line[..<firstSpace].elementsEqual("OPTIONS".utf8))
        let fields = try self.fields(from: lineEnd + 2)
        var head = HTTPRequestHead(
            bytes: self.bytes, methodRange: 0..<firstSpace, pathRange: path, queryRange: query, fields: fields,
            isHTTP11: isHTTP11)
        try self.checkFraming(&head)
        try self.checkLists(head)
        return head
    }

    private func endOfLine(from start: Int) -> Int? {
        var index = start
        while index + 1 < self.bytes.count {
            if self.bytes[index] == 0x0D { return self.bytes[index + 1] == 0x0A ? index : nil }
            index += 1
        }
        return nil
    }

    private func version(_ range: Range<Int>) throws(HTTPHeadFailure) -> Bool {
        let text = self.bytes[range]
        if text.elementsEqual("HTTP/1.1".utf8) { return true }
        if text.elementsEqual("HTTP/1.0".utf8) { return false }
        throw HTTPHeadFailure(status: text.starts(with: "HTTP/".utf8) ? 505 : 400)
    }

    /// Origin form, absolute form or (for OPTIONS) `*`; only visible ASCII and UTF-8 are allowed.
    private func target(
        _ range: Range<Int>, isOptions: Bool
    ) throws(HTTPHeadFailure) -> (path: Range<Int>, query: Range<Int>) {
        let text = self.bytes[range]
        guard !text.isEmpty, text.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw HTTPHeadFailure(status: 400) }
        var start = range.lowerBound
        if let scheme = ["http://", "https://"].first(where: { text.starts(with: $0.utf8) }) {
            let authority = start + scheme.utf8.count
            start = self.bytes[authority..<range.upperBound].firstIndex(of: UInt8(ascii: "/")) ?? range.upperBound
        }
        let isAsterisk = isOptions && text.elementsEqual("*".utf8)
        guard isAsterisk || (start < range.upperBound && self.bytes[start] == UInt8(ascii: "/")) else {
            throw HTTPHeadFailure(status: 400)
        }
        let whole = self.bytes[start..<range.upperBound]
        let end = whole.firstIndex(of: UInt8(ascii: "#")) ?? range.upperBound
        let mark = whole[..<end].firstIndex(of: UInt8(ascii: "?"))
        guard let mark else { return (start..<end, end..<end) }
        return (start..<mark, mark + 1..<end)
    }

    private func fields(from start: Int) throws(HTTPHeadFailure) -> [HTTPRequestHead.Field] {
        var fields: [HTTPRequestHead.Field] = []
        var index = start
        while let end = self.endOfLine(from: index), end > index {
            guard fields.count < self.limits.fields else { throw HTTPHeadFailure(status: 431) }
            guard let field = HTTPRequestHead.Field(line: self.bytes[index..<end]) else {
                throw HTTPHeadFailure(status: 400)
            }
            fields.append(field)
            index = end + 2
        }
        // Only the empty line may end the head; a stray carriage return would have ended the loop earlier.
        guard index == self.bytes.count - 2 else { throw HTTPHeadFailure(status: 400) }
        return fields
    }

    /// Determines the framing of the body (RFC 9112 section 6.3), rejecting everything ambiguous.
    private func checkFraming(_ head: inout HTTPRequestHead) throws(HTTPHeadFailure) {
        let hosts = head.headerCount("host")
        guard hosts == 1 || (hosts == 0 && !head.isHTTP11) else { throw HTTPHeadFailure(status: 400) }
        let codings = head.headerCount("transfer-encoding")
        let lengths = head.headerCount("content-length")
        if codings > 0 {
            guard codings == 1, lengths == 0, head.isHTTP11, let coding = head.headerBytes("transfer-encoding") else {
                throw HTTPHeadFailure(status: 400)
            }
            guard HTTPRequestHead.equal(coding, "chunked", ignoringCase: true) else {
                throw HTTPHeadFailure(status: 501)
            }
            head.isChunked = true
        } else if lengths > 0 {
            guard lengths == 1, let text = head.headerBytes("content-length"), !text.isEmpty,
                text.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 })
            else { throw HTTPHeadFailure(status: 400) }
            // A number too long for any limit is too large, not malformed.
            head.contentLength = text.count > 15 ? .max : text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }
    }

    /// Bounds the lists within the head that are searched more than once.
    private func checkLists(_ head: HTTPRequestHead) throws(HTTPHeadFailure) {
        let parameters = self.bytes[head.queryRange].count { $0 == UInt8(ascii: "&") }
        guard parameters < self.limits.queryParameters else { throw HTTPHeadFailure(status: 414) }
    }
}
