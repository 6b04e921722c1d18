public struct HTTPLimits: Sendable, Equatable {
    /// The request line, bytes; a longer one is answered 414. As much of extensions and trailers is read beside a chunked
    /// body (RFC 9112 section 7.1.1); more are answered 431.
    public var requestLine = 4096
    /// The whole head, bytes; a longer one is answered 431.
    public var head = 16384
    /// Header fields; more are answered 431.
    public var fields = 64
    /// Parameters of the query; more are answered 414. Each parameter that is looked up is compared with all of them.
    public var queryParameters = 64

    public init() {}
}

public enum HTTPRequestEvent: Sendable {
    /// A head is complete: call ``HTTPRequestParser/acceptBody(limit:)`` before continuing.
    case head(HTTPRequestHead)
    /// The next bytes of the body: this range of the input.
    case part(Range<Int>)
    /// The body, if there is one, is complete; the parser waits for the next request.
    case end
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
/// buffers more than a head or the line of a chunk.
public struct HTTPRequestParser: Sendable {
    private enum Stage {
        case head, undecided, sized, chunkSize, chunkData, chunkEnd, trailer, deaf
    }

    private let limits: HTTPLimits
    private var stage = Stage.head
    private var line: [UInt8] = []
    private var bodyLimit = 0
    /// Bytes of the body so far, and those that are due of it or of its present chunk.
    private var (bodyCount, due) = (0, 0)
    private var isChunked = false
    /// Bytes of the extensions and trailers beside the body.
    private var extraBytes = 0
    private var hasRequestLine = false

    public init(limits: HTTPLimits) {
        self.limits = limits
    }

    public var isMidRequest: Bool {
        if case .head = self.stage { return !self.line.isEmpty }
        return true
    }

    public var heldBytes: Int { self.line.count }

    /// After a head: up to `limit` bytes of body are accepted.
    public mutating func acceptBody(limit: Int) {
        guard case .undecided = self.stage else { return }
        (self.bodyLimit, self.bodyCount, self.extraBytes) = (limit, 0, 0)
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
                guard self.due <= self.bodyLimit - self.bodyCount else { return self.fail(413) }
                return self.due == 0 ? self.finish() : self.part(input, at: &offset)
            case .chunkData:
                guard self.due == 0 else { return self.part(input, at: &offset) }
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
        return .failure(status)
    }

    private mutating func finish() -> HTTPRequestEvent {
        self.stage = .head
        return .end
    }

    private mutating func part(_ input: UnsafeRawBufferPointer, at offset: inout Int) -> HTTPRequestEvent? {
        let count = min(self.due, input.count - offset)
        guard count > 0 else { return nil }
        offset += count
        self.due -= count
        self.bodyCount += count
        return .part((offset - count)..<offset)
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

    private mutating func chunkLine() -> HTTPRequestEvent? {
        let line = self.line
        self.line.removeAll(keepingCapacity: true)
        switch self.stage {
        case .chunkEnd:
            guard line.isEmpty else { return self.fail(400) }
            self.stage = .chunkSize
        case .chunkSize:
            // What is longer than a size is an extension.
            self.extraBytes += max(0, line.count - HTTPGrammar.chunkSizeDigits)
            guard self.extraBytes <= self.limits.requestLine else { return self.fail(431) }
            guard let size = HTTPGrammar.chunkSize(line) else { return self.fail(400) }
            if size == 0 {
                self.stage = .trailer
                return nil
            }
            guard size <= self.bodyLimit - self.bodyCount else { return self.fail(413) }
            self.due = size
            self.stage = .chunkData
        default:
            if line.isEmpty {
                self.line = []
                return self.finish()
            }
            self.extraBytes += line.count
            guard self.extraBytes <= self.limits.requestLine else { return self.fail(431) }
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
