import Glibc
import NIOCore

@testable import SocketIOServer

/// Two connected stream sockets with little room in between: what is written at one end is read at the other.
final class SocketPair {
    private(set) var writing: Int32
    private var reading: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        (self.writing, self.reading) = (ends[0], ends[1])
        // The kernel makes of it what it holds for the least.
        var room: Int32 = 1
        setsockopt(self.writing, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        self.closeWriting()
        self.closeReading()
    }

    func closeWriting() { Self.close(&self.writing) }

    func closeReading() { Self.close(&self.reading) }

    private static func close(_ descriptor: inout Int32) {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Everything that can be read now, up to `limit` bytes.
    func read(upTo limit: Int = .max) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < limit {
            let count = recv(self.reading, &buffer, min(buffer.count, limit - bytes.count), Int32(MSG_DONTWAIT))
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return bytes
    }
}

/// A channel as it behaves towards its handler: it keeps what the kernel does not accept, and writes only what was
/// flushed.
final class FakeChannel: ChannelSink {
    private let pair: SocketPair
    private(set) var held: [UInt8] = []
    private var flushed = 0
    private(set) var flushes = 0

    init(_ pair: SocketPair) { self.pair = pair }

    var heldBytes: Int { self.held.count }

    func append(_ buffer: ByteBuffer) { self.held += buffer.readableBytesView }

    func flush() {
        self.flushes += 1
        self.flushed = self.held.count
        self.socketBecameWritable()
    }

    /// Writes what was flushed as far as there is room.
    func socketBecameWritable() {
        while self.flushed > 0 {
            let count = self.held[..<self.flushed].withUnsafeBytes {
                send(self.pair.writing, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            self.held.removeFirst(count)
            self.flushed -= count
        }
    }
}
