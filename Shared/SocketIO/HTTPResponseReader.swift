/// The head of a response to a relayed request.
public struct HTTPResponseHead: Sendable {
    /// The status code.
    public let status: UInt16
    /// All fields but those that each server writes itself: the hop-by-hop ones (Connection, Keep-Alive), Content-Length and
    /// X-Content-Type-Options.
    public let headers: [(String, String)]
    /// Bytes of body that follow, unless the request's method was HEAD.
    public let contentLength: Int
    /// Whether another request may follow on the connection.
    public let keepsAlive: Bool

    /// The value of the first field called `name` (lower case).
    public func header(_ name: String) -> String? {
        self.headers.first { $0.0.lowercased() == name }?.1
    }
}

/// Parses the head of a response from another server of this kind, for input of any piece size.
///
/// These servers send Content-Length for each body, so nothing else is supported: no chunks, no body that ends with the
/// connection, no interim responses.
public struct HTTPResponseReader: Sendable {
    /// The response is not one that this kind of server sends.
    public struct Malformed: Error {}

    private let limits: HTTPLimits
    private var bytes: [UInt8] = []

    /// A reader at the start of a response.
    public init(limits: HTTPLimits) {
        self.limits = limits
    }

    /// Parses from `offset` to the end of the head or of the input (nil); after a head it is ready for the next
    /// response.
    public mutating func next(
        _ input: UnsafeRawBufferPointer, at offset: inout Int
    ) throws(Malformed) -> HTTPResponseHead? {
        while offset < input.count {
            self.bytes.append(input[offset])
            offset += 1
            guard self.bytes.count <= self.limits.head else { throw Malformed() }
            guard self.bytes.last == 0x0A, self.bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) else { continue }
            let head = try self.parse()
            self.bytes = []
            return head
        }
        return nil
    }

    private func parse() throws(Malformed) -> HTTPResponseHead {
        let ended = self.bytes.dropLast(3).split(separator: 0x0A, omittingEmptySubsequences: false)
        guard ended.allSatisfy({ $0.last == 0x0D }) else { throw Malformed() }
        let lines = ended.map { $0.dropLast() }
        let status = try Self.status(lines[0])
        var headers: [(String, String)] = []
        var length: Int?
        var keepsAlive = true
        for line in lines.dropFirst() {
            let (name, value) = try Self.field(line)
            switch name.lowercased() {
            case "content-length":
                guard length == nil, let count = Self.number(value) else { throw Malformed() }
                length = count
            case "connection": if value.lowercased() == "close" { keepsAlive = false }
            case "transfer-encoding": throw Malformed()
            case "keep-alive", "upgrade", "x-content-type-options": break
            default: headers.append((name, value))
            }
        }
        if status == 101 || status == 204 || status == 304 {
            length = 0
        } else if status < 200 {
            throw Malformed()
        }
        guard let length else { throw Malformed() }
        return HTTPResponseHead(status: status, headers: headers, contentLength: length, keepsAlive: keepsAlive)
    }

    /// Reads `HTTP/1.1 200 OK`.
    private static func status(_ line: ArraySlice<UInt8>) throws(Malformed) -> UInt16 {
        let parts = line.split(separator: 0x20, maxSplits: 2)
        guard parts.count >= 2, parts[0].elementsEqual("HTTP/1.1".utf8), parts[1].count == 3,
            let status = Self.number(String(decoding: parts[1], as: UTF8.self)), (100...599).contains(status)
        else { throw Malformed() }
        return UInt16(status)
    }

    private static func field(_ line: ArraySlice<UInt8>) throws(Malformed) -> (name: String, value: String) {
        guard let field = HTTPRequestHead.Field(line: line) else { throw Malformed() }
        return (String(decoding: line[field.name], as: UTF8.self), String(decoding: line[field.value], as: UTF8.self))
    }

    /// An integer of up to 15 decimal digits.
    private static func number(_ text: String) -> Int? {
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
            return nil
        }
        return Int(text)
    }
}
