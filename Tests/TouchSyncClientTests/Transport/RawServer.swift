import NIOCore
import NIOPosix
import NIOSSL
import TLSTestKit

@testable import SocketIOServer

/// Runs `body` beside a server on loopback whose every connection `serve` answers by hand.
func withRawServer<Value>(
    _ certificate: TestCertificate? = nil, _ serve: @escaping @Sendable (inout RawPeer) async throws -> Void,
    _ body: (Int) async throws -> Value
) async throws -> Value {
    let tls = try certificate.map { certificate in
        try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: NIOSSLCertificate.fromPEMBytes(Array(certificate.certificate.utf8))
                    .map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(bytes: Array(certificate.key.utf8), format: .pem))))
    }
    // Connections are wrapped when they are answered: one that is wrapped must be answered.
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelOption(.autoRead, value: false)
        .bind(host: "127.0.0.1", port: 0) { channel in
            channel.eventLoop.makeCompletedFuture {
                if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                return channel
            }
        }
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            try await listener.executeThenClose { channels in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await channel in channels { group.addTask { try? await answer(channel, serve) } }
                }
            }
        }
        defer { group.cancelAll() }
        return try await body(listener.channel.localAddress?.port ?? 0)
    }
}

private func answer(
    _ channel: any Channel, _ serve: @escaping @Sendable (inout RawPeer) async throws -> Void
) async throws {
    let connection = try await channel.eventLoop.submit {
        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
    }.get()
    try await connection.executeThenClose { inbound, outbound in
        try await channel.setOption(.autoRead, value: true).get()
        var peer = RawPeer(inbound.makeAsyncIterator(), outbound)
        try await serve(&peer)
    }
}

/// One connection of a raw server.
struct RawPeer {
    /// The client closed although more was expected.
    struct Ended: Error {}

    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var input = ByteBuffer()

    init(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        self.inbound = inbound
        self.outbound = outbound
    }

    func send(_ text: String) async throws { try await self.outbound.write(ByteBuffer(string: text)) }

    func send(_ bytes: [UInt8]) async throws { try await self.outbound.write(ByteBuffer(bytes: bytes)) }

    /// Reads more; throws at the end.
    mutating func fill() async throws {
        guard var bytes = try await self.inbound.next(isolation: #isolation) else { throw Ended() }
        self.input.writeBuffer(&bytes)
    }

    /// Reads to the end; whatever error ends it, too.
    mutating func waitForEnd() async {
        while (try? await self.inbound.next(isolation: #isolation)) != nil {}
    }

    /// A request up to its empty line.
    mutating func head() async throws -> String {
        while true {
            let text = String(buffer: self.input)
            if let end = text.firstRange(of: "\r\n\r\n") {
                let head = text[..<end.upperBound]
                self.input.moveReaderIndex(forwardBy: head.utf8.count)
                return String(head)
            }
            try await self.fill()
        }
    }

    /// Agrees to a WebSocket, with `bytes` in the same write.
    mutating func accept(with bytes: [UInt8] = []) async throws {
        try await self.send(Array(self.agreement().utf8) + bytes)
    }

    /// The answer that agrees to the WebSocket of the next request.
    mutating func agreement() async throws -> String {
        guard let agreement = Self.agreement(to: try await self.head()) else { throw Ended() }
        return agreement
    }

    /// The answer that agrees to a request for a WebSocket; nil if it is none.
    static func agreement(to head: String) -> String? {
        let name = "Sec-WebSocket-Key: "
        let line = head.split(separator: "\r\n").first { $0.hasPrefix(name) }
        return line.map { Self.agreement(WebSocketAccept.value(for: Array($0.dropFirst(name.count).utf8))) }
    }

    static func agreement(_ key: String) -> String {
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(key)\r\n\r\n"
    }

    private mutating func take(_ count: Int) async throws -> [UInt8] {
        while self.input.readableBytes < count { try await self.fill() }
        return self.input.readBytes(length: count) ?? []
    }

    /// The next frame of the client as its first byte and its payload, which must be masked.
    mutating func frame() async throws -> RawFrame {
        let start = try await self.take(2)
        guard start[1] & 0x80 != 0 else { throw Ended() }
        var length = Int(start[1] & 0x7F)
        if length >= 126 { length = try await self.take(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
        let mask = try await self.take(4)
        let payload = try await self.take(length)
        return RawFrame(first: start[0], mask: mask, payload: payload.enumerated().map { $1 ^ mask[$0 & 3] })
    }
}

/// A frame as it is on the network, without its length.
struct RawFrame: Equatable, Sendable {
    let first: UInt8
    let mask: [UInt8]
    let payload: [UInt8]

    var text: String { String(decoding: self.payload, as: UTF8.self) }
    /// The code of a close frame.
    var code: Int? { self.first == 0x88 ? self.payload.prefix(2).reduce(0) { $0 << 8 | Int($1) } : nil }
}

/// A server's frame with any first byte.
func serverFrame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
    switch payload.count {
    case ..<126: [first, UInt8(payload.count)] + payload
    case ...0xFFFF: [first, 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)] + payload
    default: [first, 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) } + payload
    }
}

/// A server's message in one frame.
func serverText(_ text: String) -> [UInt8] { serverFrame(0x81, Array(text.utf8)) }
