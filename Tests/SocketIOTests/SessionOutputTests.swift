import NIOCore
import Testing

@testable import SocketIOServer

/// What a polling session sends waits for a poll, which shows the bounds; WebSockets are tested with their sockets.
@Suite struct SessionOutputTests {
    private let packet = PreparedPacket(event: bytes(#"["x"]"#))

    private static func polling(highWater: Int = 65_536) -> SessionOutput {
        var configuration = SocketIOServer.Configuration()
        configuration.writeHighWater = highWater
        return SessionOutput(.polling(PollingLink(configuration)))
    }

    @Test func aPacketThatMayBeLeftOutHasSpaceUpToHalfOfTheBound() {
        let output = Self.polling()
        let limit = 2 * self.packet.heldBytes
        #expect(output.hasSpace(for: self.packet, limit: limit, highWater: 0))
        #expect(!output.hasSpace(for: self.packet, limit: limit - 2, highWater: 0))
        output.send(self.packet)
        #expect(!output.hasSpace(for: self.packet, limit: limit, highWater: 0))
    }

    @Test func whatMustBeSentExceedsTheBoundOnce() {
        var output = Self.polling()
        output.send(self.packet)
        let limit = output.bufferedBytes
        #expect(output.grew(limit: limit) == false)
        output.send(binary: [])
        #expect(output.grew(limit: limit) == true)
        #expect(output.grew(limit: limit) == false)
    }

    @Test func exemptBytesDoNotCount() {
        var output = Self.polling()
        output.exempt(1000)
        output.send(length: 1000) { _ = $0.writeRepeatingByte(120, count: 1000) }
        #expect(output.bufferedBytes == 1000 + PollPacket.overhead)
        #expect(output.grew(limit: PollPacket.overhead) == false)
        #expect(output.hasSpace(for: self.packet, limit: 1000, highWater: 0))
        output.send(binary: [])
        #expect(output.grew(limit: PollPacket.overhead) == true)
    }

    @Test func anOutputAboveItsHighWaterMarkIsNotWritable() {
        let output = Self.polling(highWater: 2 * PollPacket.overhead)
        output.send(self.packet)
        #expect(output.isWritable)
        output.send(self.packet)
        #expect(!output.isWritable)
    }

    @Test func nothingIsSentOnceTheSessionHasEnded() {
        var output = Self.polling()
        output.carrier = .none
        output.send(self.packet)
        #expect(output.bufferedBytes == 0 && output.polling == nil)
        #expect(!output.isWritable && !output.hasSpace(for: self.packet, limit: 1 << 20, highWater: 0))
    }
}
