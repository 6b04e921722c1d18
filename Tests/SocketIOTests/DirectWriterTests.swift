import Glibc
import NIOCore
import Testing

@testable import SocketIOServer

/// When bytes may be written past a channel, and what the kernel's answers mean.
@Suite struct DirectWriterTests {
    private let large = ByteBuffer(repeating: 7, count: 1 << 20)

    private func openWriter(_ pair: SocketPair) -> DirectWriter {
        var writer = DirectWriter()
        writer.open(descriptor: pair.writing)
        return writer
    }

    /// A writer whose channel is never asked for its backlog.
    private func write(_ buffer: ByteBuffer, _ writer: inout DirectWriter) -> Int? {
        writer.write(buffer) {
            Issue.record("a channel that was given nothing was asked for its backlog")
            return 0
        }
    }

    @Test func bytesGoToTheKernelWhileTheChannelIsEmpty() {
        let pair = SocketPair()
        var writer = self.openWriter(pair)
        #expect(self.write(ByteBuffer(string: "one"), &writer) == 3)
        #expect(self.write(ByteBuffer(string: "two"), &writer) == 3)
        #expect(pair.read() == bytes("onetwo"))
    }

    @Test func partialWriteReturnsWhatTheKernelAccepted() {
        let pair = SocketPair()
        var writer = self.openWriter(pair)
        let count = self.write(self.large, &writer)
        #expect(count.map { $0 > 0 && $0 < self.large.readableBytes } == true)
        #expect(pair.read().count == count)
    }

    @Test func fullSocketAcceptsNothing() {
        let pair = SocketPair()
        var writer = self.openWriter(pair)
        while let count = self.write(self.large, &writer), count > 0 {}
        #expect(self.write(ByteBuffer(string: "more"), &writer) == 0)
        _ = pair.read()
        #expect(self.write(ByteBuffer(string: "more"), &writer) == 4)
    }

    @Test func closedPeerAcceptsNothingAndRaisesNoSignal() {
        let pair = SocketPair()
        var writer = self.openWriter(pair)
        pair.closeReading()
        #expect(self.write(ByteBuffer(string: "lost"), &writer) == 0)
    }

    @Test func resetConnectionAcceptsNothing() throws {
        let listener = RawListener()
        let client = try RawClient(port: listener.port)
        let accepted = try listener.acceptDescriptor()
        defer { Glibc.close(accepted) }
        var writer = DirectWriter()
        writer.open(descriptor: accepted)
        #expect(self.write(ByteBuffer(string: "unread"), &writer) == 6)
        // Closing with unread bytes resets the connection, which poll(2) reports unasked.
        try client.waitForInput()
        client.close()
        var entry = pollfd(fd: accepted, events: 0, revents: 0)
        #expect(poll(&entry, 1, 10_000) == 1)
        #expect(self.write(ByteBuffer(string: "more"), &writer) == 0)
        #expect(self.write(ByteBuffer(string: "more"), &writer) == 0)
    }

    @Test func nothingIsWrittenBetweenAWriteToTheChannelAndItsFlush() {
        let pair = SocketPair()
        var writer = self.openWriter(pair)
        writer.wroteToChannel()
        #expect(writer.needsFlush)
        #expect(self.write(ByteBuffer(string: "early"), &writer) == nil)
        #expect(pair.read().isEmpty)
    }

    @Test func nothingIsWrittenAfterAFlushUntilTheChannelIsEmpty() {
        let pair = SocketPair()
        var writer = self.openWriter(pair)
        writer.wroteToChannel()
        writer.flushedChannel()
        #expect(!writer.needsFlush)
        #expect(writer.write(ByteBuffer(string: "early"), { 1 }) == nil)
        #expect(pair.read().isEmpty)
        #expect(writer.write(ByteBuffer(string: "now"), { 0 }) == 3)
        #expect(self.write(ByteBuffer(string: "again"), &writer) == 5)
        #expect(pair.read() == bytes("nowagain"))
    }

    @Test func nothingIsWrittenToTheDescriptorsNextOwner() {
        let pair = SocketPair()
        var writer = self.openWriter(pair)
        let number = pair.writing
        writer.close()
        pair.closeWriting()
        let others = (0..<8).map { _ in SocketPair() }
        #expect(others.contains { $0.writing == number })
        #expect(self.write(ByteBuffer(string: "stray"), &writer) == 0)
        #expect(others.allSatisfy { $0.read().isEmpty })
    }

    @Test func channelWithoutSocketGetsEverything() {
        var writer = DirectWriter()
        #expect(self.write(ByteBuffer(string: "all"), &writer) == 0)
        writer.open(descriptor: -1)
        #expect(self.write(ByteBuffer(string: "all"), &writer) == 0)
    }
}
