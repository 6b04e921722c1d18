import Glibc
import PipelineTestKit
import Testing
import Trust

@testable import Mesh

/// What somebody who proves nothing can make a bound link store: the frames of a handshake.
@Suite(.timeLimit(.minutes(1)))
struct AnnouncedFrameTests {
    /// A peer's greeting (ZMTP 3.1, RFC 37): signature, version, mechanism, not the server, filler.
    private static let greeting =
        [0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 1] + Array("CURVE".utf8) + [UInt8](repeating: 0, count: 15 + 1 + 31)

    /// The header of a long command frame.
    private static func header(announcing bytes: Int) -> [UInt8] {
        [0x06] + withUnsafeBytes(of: UInt64(bytes).bigEndian) { Array($0) }
    }

    private static func isClosed(_ descriptor: Int32) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 256)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
            if count > 0 { continue }
            return count == 0 || errno == ECONNRESET
        }
    }

    @Test func aFrameBeyondTheLimitEndsTheHandshakeWhenItIsAnnounced() async throws {
        var options = LinkOptions()
        // None of the two is closed because it takes long.
        options.handshakeInterval = .seconds(3600)
        let keys = LinkKeys(own: KeyPair(), peers: PeerList())
        let server = try Probe.guardedServer(keys, serving: PeerRoles(.gateway), options: options)
        let endpoint = try #require(await server.ask { $0.server?.endpoint })
        guard case .tcp(_, let port) = endpoint.kind else { throw Timeout(description: "no port") }
        let limit = options.maximumMessageBytes
        let allowed = try connectRaw(to: port, Self.greeting + Self.header(announcing: limit))
        let tooLong = try connectRaw(to: port, Self.greeting + Self.header(announcing: limit + 1))
        try await eventually("closed") { Self.isClosed(tooLong) }
        #expect(!Self.isClosed(allowed))
        #expect(server.seen.isEmpty)
        for descriptor in [allowed, tooLong] { close(descriptor) }
        try await server.stop()
    }
}
