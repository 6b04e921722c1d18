/// Limits of one request.
public struct HTTPLimits: Sendable, Equatable {
    /// The request line, bytes; a longer one is answered 414.
    public var requestLine = 4096
    /// The whole head, bytes; a longer one is answered 431.
    public var head = 16384
    /// Header fields; more are answered 431.
    public var fields = 64
    /// Parameters of the query; more are answered 414. Each parameter that is looked up is compared with all of them.
    public var queryParameters = 64
    /// What `Connection` lists; more is answered 431. Each field that is relayed is compared with all of it.
    public var connectionOptions = 16

    /// The defaults: 4 KiB, 16 KiB, 64, 64, 16.
    public init() {}
}

/// An event of the parser.
public enum HTTPRequestEvent: Sendable {
    /// A head is complete: call ``HTTPRequestParser/acceptBody(limit:)`` before continuing.
    case head(HTTPRequestHead)
    /// The body (empty if the request has none) is complete; the parser waits for the next request.
    case body([UInt8])
    /// The request cannot be served: the status to answer before closing.
    case failure(UInt16)
}

/// A strict HTTP/1.1 request parser (RFC 9112) for input of any piece size.
///
/// ```
/// head -> (acceptBody) -> sized | chunk size <-> chunk data -> trailer -> head …        failure: deaf
/// ```
/// Ambiguous requests are rejected with 400: bare line feeds, folded lines, space before a colon, repeated or signed
/// lengths, a length with chunks, any transfer coding but `chunked`, malformed chunk extensions and trailers. It never
/// buffers more than a head or `limit` bytes of body.
public struct HTTPRequestParser: Sendable {
    private enum Stage {
        case head, undecided, sized, chunkSize, chunkData, chunkEnd, trailer, deaf
    }

    private let limits: HTTPLimits
    private var stage = Stage.head
    private var line: [UInt8] = []
    private var body: [UInt8] = []
    private var bodyLimit = 0
    private var due = 0
    private var isChunked = false
    private var trailerBytes = 0
    /// Where the search for the end of the head resumes, and where the current line began.
    private var scanned = 0
    private var hasRequestLine = false

    /// A parser at the start of a connection.
    public init(limits: HTTPLimits) {
        self.limits = limits
    }

    /// Whether part of a request was read.
    public var isMidRequest: Bool {
        if case .head = self.stage { return !self.line.isEmpty }
        return true
    }

    /// Bytes of the request that is being read.
    public var heldBytes: Int { self.line.count + self.body.count }

    /// After a head: up to `limit` bytes of body are accepted.
    public mutating func acceptBody(limit: Int) {
        guard case .undecided = self.stage else { return }
        self.bodyLimit = limit
        self.body = []
        self.stage = self.isChunked ? .chunkSize : .sized
    }

    /// Parses from `offset` to the next event, or returns `nil` at the end of the input.
    public mutating func next(_ input: UnsafeRawBufferPointer, at offset: inout Int) -> HTTPRequestEvent? {
        while true {
            switch self.stage {
            case .undecided: return nil
            case .deaf:
                offset = input.count
                return nil
            case .head:
                guard let event = self.readHead(input, at: &offset) else { return nil }
                return event
            case .sized:
                guard self.due <= self.bodyLimit - self.body.count else { return self.fail(413) }
                self.appendBody(input, at: &offset)
                return self.due == 0 ? self.finish() : nil
            case .chunkData:
                self.appendBody(input, at: &offset)
                if self.due > 0 { return nil }
                self.stage = .chunkEnd
            case .chunkSize, .chunkEnd, .trailer:
                guard let isLine = self.readLine(input, at: &offset) else { return self.fail(400) }
                guard isLine else { return nil }
                if let event = self.chunkLine() { return event }
            }
        }
    }

    private mutating func fail(_ status: UInt16) -> HTTPRequestEvent {
        self.stage = .deaf
        self.line = []
        self.body = []
        return .failure(status)
    }

    private mutating func finish() -> HTTPRequestEvent {
        let body = self.body
        self.body = []
        self.stage = .head
        return .body(body)
    }

    private mutating func appendBody(_ input: UnsafeRawBufferPointer, at offset: inout Int) {
        let count = min(self.due, input.count - offset)
        self.body.append(contentsOf: input[offset..<(offset + count)].assumingBytes)
        offset += count
        self.due -= count
    }
}

extension Slice where Base == UnsafeRawBufferPointer {
    var assumingBytes: UnsafeBufferPointer<UInt8> {
        UnsafeRawBufferPointer(rebasing: self).assumingMemoryBound(to: UInt8.self)
    }
}

extension HTTPRequestParser {
    /// Collects a CRLF line of a chunked body; nil if it is malformed or too long.
    private mutating func readLine(_ input: UnsafeRawBufferPointer, at offset: inout Int) -> Bool? {
        while offset < input.count {
            let byte = input[offset]
            offset += 1
            if byte == 0x0A {
                guard self.line.last == 0x0D else { return nil }
                self.line.removeLast()
                return true
            }
            guard self.line.count < 1024, self.line.last != 0x0D else { return nil }
            self.line.append(byte)
        }
        return false
    }

    /// Acts on one complete line of a chunked body.
    private mutating func chunkLine() -> HTTPRequestEvent? {
        let line = self.line
        self.line.removeAll(keepingCapacity: true)
        switch self.stage {
        case .chunkEnd:
            guard line.isEmpty else { return self.fail(400) }
            self.stage = .chunkSize
        case .chunkSize:
            guard let size = HTTPGrammar.chunkSize(line) else { return self.fail(400) }
            if size == 0 {
                self.trailerBytes = 0
                self.stage = .trailer
                return nil
            }
            guard size <= self.bodyLimit - self.body.count else { return self.fail(413) }
            self.due = size
            self.stage = .chunkData
        default:
            if line.isEmpty {
                self.line = []
                return self.finish()
            }
            self.trailerBytes += line.count
            guard self.trailerBytes <= self.limits.requestLine else { return self.fail(431) }
            guard HTTPRequestHead.Field(line: line[...]) != nil else { return self.fail(400) }
        }
        return nil
    }
}

extension HTTPRequestParser {
    private mutating func readHead(_ input: UnsafeRawBufferPointer, at offset: inout Int) -> HTTPRequestEvent? {
        while offset < input.count {
            let byte = input[offset]
            offset += 1
            self.line.append(byte)
            guard byte == 0x0A else {
                if !self.hasRequestLine, self.line.count > self.limits.requestLine { return self.fail(414) }
                if self.line.count > self.limits.head { return self.fail(431) }
                continue
            }
            let count = self.line.count
            guard count >= 2, self.line[count - 2] == 0x0D else { return self.fail(400) }
            // Empty lines before the request line are ignored (RFC 9112 section 2.2).
            guard count > 2 else {
                self.line.removeAll(keepingCapacity: true)
                continue
            }
            self.hasRequestLine = true
            guard count >= 4, self.line[count - 3] == 0x0A, self.line[count - 4] == 0x0D else { continue }
            let bytes = self.line
            self.line = []
            self.hasRequestLine = false
            switch HTTPHeadReader(bytes: bytes, limits: self.limits).read() {
            case .success(let head):
                self.isChunked = head.isChunked
                self.due = head.contentLength
                self.stage = .undecided
                return .head(head)
            case .failure(let failure):
                return self.fail(failure.status)
            }
        }
        return nil
    }
}
