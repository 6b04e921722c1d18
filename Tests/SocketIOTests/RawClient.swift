import Glibc
import SocketIO

/// A blocking TCP client that writes what it is told and reads with a deadline. It knows just enough WebSocket to
/// split server frames.
final class RawClient {
    struct Failure: Error {
        let message: String
    }

    private let descriptor: Int32
    private var input: [UInt8] = []
    private(set) var isAtEnd = false

    init(port: Int, receiveBuffer: Int32? = nil) throws {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var receiveBuffer {
            setsockopt(self.descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var yes: Int32 = 1
        setsockopt(self.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(self.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(message: "connect: \(errno)") }
    }

    /// The other end of a connection that a ``RawListener`` accepted.
    init(accepted descriptor: Int32) {
        self.descriptor = descriptor
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { self.close() }

    private var isClosed = false

    func close() {
        guard !self.isClosed else { return }
        self.isClosed = true
        Glibc.close(self.descriptor)
    }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    func send(_ text: String) { self.send(Array(text.utf8)) }

    /// Sends as much as is taken without waiting; how much that was.
    func sendSome(_ bytes: ArraySlice<UInt8>) -> Int {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        return max(0, bytes.withUnsafeBytes { Glibc.send(self.descriptor, $0.baseAddress, $0.count, flags) })
    }

    /// Removes and returns what was read so far.
    func readAvailable() throws -> [UInt8] {
        try self.fill()
        defer { self.input = [] }
        return self.input
    }

    /// Whether nothing has come that was not read.
    var isSilent: Bool { self.input.isEmpty && !self.hasInput(within: 0) }

    /// Waits until the kernel has something to read.
    func waitForInput() throws {
        guard self.hasInput(within: 10_000) else { throw Failure(message: "nothing came") }
    }

    private func hasInput(within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) != 0
    }

    /// Reads more; false at the end or after the deadline.
    private func fill() throws {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(self.descriptor, &buffer, buffer.count, 0)
        if count > 0 {
            self.input += buffer[..<count]
        } else if count == 0 || errno == ECONNRESET {
            self.isAtEnd = true
        } else {
            throw Failure(message: "nothing came; waiting: \(String(decoding: self.input, as: UTF8.self))")
        }
    }

    private func need(_ count: Int) throws {
        while self.input.count < count {
            guard !self.isAtEnd else { throw Failure(message: "closed") }
            try self.fill()
        }
    }

    /// Waits for the end of the connection, whatever comes before it.
    func waitForEnd() throws {
        while !self.isAtEnd { try self.fill() }
    }

    struct Response {
        var status: Int
        var head: String
        var body: String
    }

    /// The head of an HTTP message, with the empty line at its end.
    func head() throws -> String {
        var end: Int?
        while end == nil {
            for index in self.input.indices where self.input[index...].starts(with: [13, 10, 13, 10]) {
                end = index + 4
                break
            }
            if end == nil {
                guard !self.isAtEnd else { throw Failure(message: "closed before a response") }
                try self.fill()
            }
        }
        let head = String(decoding: self.input[..<(end ?? 0)], as: UTF8.self)
        self.input.removeFirst(end ?? 0)
        return head
    }

    /// One HTTP response; or, with status 0, one request.
    func response() throws -> Response {
        let head = try self.head()
        let lengthLine = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        let length = lengthLine.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
        try self.need(length)
        let body = String(decoding: self.input[..<length], as: UTF8.self)
        self.input.removeFirst(length)
        let status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
        return Response(status: status, head: head, body: body)
    }

    /// One server frame.
    func frame() throws -> (opcode: UInt8, payload: [UInt8]) {
        try self.need(2)
        let opcode = self.input[0] & 0x0F
        var length = Int(self.input[1])
        var header = 2
        if length == 126 {
            try self.need(4)
            length = Int(self.input[2]) << 8 | Int(self.input[3])
            header = 4
        } else if length == 127 {
            try self.need(10)
            length = self.input[2..<10].reduce(0) { $0 << 8 | Int($1) }
            header = 10
        }
        try self.need(header + length)
        let payload = Array(self.input[header..<(header + length)])
        self.input.removeFirst(header + length)
        return (opcode, payload)
    }

    /// The next text or binary frame as text; pings of Engine.IO (`2`) are skipped.
    func message() throws -> String {
        while true {
            let (opcode, payload) = try self.frame()
            if opcode == 8 { throw Failure(message: "closed with \(payload)") }
            let text = String(decoding: payload, as: UTF8.self)
            if text != "2" { return text }
        }
    }

    /// The code of the close frame that comes after anything else; nil if the connection ends without one.
    func closeCode() throws -> Int? {
        while true {
            do {
                let (opcode, payload) = try self.frame()
                guard opcode == 8 else { continue }
                return payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : 1005
            } catch {
                if self.isAtEnd { return nil }
                throw error
            }
        }
    }
}

extension RawClient {
    static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    static func upgrade(_ target: String, headers: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-Websocket-Key: \(Self.key)\r\nSec-WebSocket-Version: 13\r\n\(headers)\r\n"
    }

    static func get(_ target: String, headers: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n"
    }

    static func post(_ target: String, _ body: String, headers: String = "") -> String {
        "POST \(target) HTTP/1.1\r\nHost: localhost\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// Sends a request and reads its response.
    func ask(_ request: String) throws -> Response {
        self.send(request)
        return try self.response()
    }

    func sendText(_ text: String) { self.send(clientText(text)) }

    /// Opens a WebSocket session, up to its open packet.
    func openSession(path: String = "/socket.io/", headers: String = "") throws {
        self.send(Self.upgrade("\(path)?EIO=4&transport=websocket", headers: headers))
        guard try self.response().status == 101 else { throw Failure(message: "not upgraded") }
        guard try self.message().hasPrefix(#"0{"sid":""#) else { throw Failure(message: "not opened") }
    }

    /// Enters the main namespace.
    func enter() throws {
        self.sendText("40")
        guard try self.message().hasPrefix(#"40{"sid":""#) else { throw Failure(message: "no namespace") }
    }
}
