public import NIOCore
public import SocketIO

/// One HTTP request with its whole body.
public struct HTTPRequest: Sendable {
    public let head: HTTPRequestHead
    public let body: [UInt8]
    public let remoteAddress: SocketAddress?
    /// The address whose limits the client counts for; `nil` if it is not limited, such as direct ones from loopback.
    public let limitedAddress: AddressKey?
}

/// An HTTP response. Content-Length, Connection and X-Content-Type-Options are added; fields with line breaks are
/// omitted.
public struct HTTPResponse {
    public var status: UInt16
    public var headers: [(String, String)]
    public var body: [UInt8]
    /// Goes on with the body, whose end is the connection's; `nil` for one that is all there.
    public var stream: ResponseStream?
    /// Kept until the client has read the answer, all but little of it, or is gone.
    public var hold: AnswerHold?

    public init(status: UInt16, headers: [(String, String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

extension ByteBuffer {
    /// Writes the head of an HTTP/1.1 response. No browser guesses another type than the one that it names.
    /// - Parameters:
    ///   - length: the size of the body, bytes; `nil` if the connection's end is the body's. Omitted for 204 and 304, which have
    ///     none.
    ///   - connection: the value of the Connection field; `nil` for none.
    mutating func writeResponseHead(
        _ status: UInt16, _ headers: [(String, String)], length: Int?, connection: StaticString?
    ) {
        self.writeString("HTTP/1.1 \(status) \(reasonPhrase(status))\r\n")
        for (name, value) in headers where isFieldText(name) && isFieldText(value) {
            self.writeString(name)
            self.writeString(": ")
            self.writeString(value)
            self.writeString("\r\n")
        }
        self.writeString("X-Content-Type-Options: nosniff\r\n")
        if let length, status != 204, status != 304 { self.writeString("Content-Length: \(length)\r\n") }
        if let connection { self.writeString("Connection: \(connection)\r\n") }
        self.writeString("\r\n")
    }

    mutating func writeSwitchingProtocols(accept: String) {
        self.writeString(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: \(accept)\r\n\r\n")
    }
}

private func isFieldText(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
}

private func reasonPhrase(_ status: UInt16) -> String {
    switch status {
    case 200: "OK"
    case 201: "Created"
    case 204: "No Content"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 409: "Conflict"
    case 410: "Gone"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 421: "Misdirected Request"
    case 426: "Upgrade Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 505: "HTTP Version Not Supported"
    default: "Status"
    }
}
