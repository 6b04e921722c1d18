import NIOCore
import NIOEmbedded
import Testing
import Wire

@testable import SocketIOServer

/// Bytes leave in the order in which they were sent, whichever way each of them takes.
@Suite struct ConnectionOutputTests {
    /// Outputs that share the outbox and the flush queue of one loop, each with its socket and channel.
    private struct Outputs {
        let eventLoop = EmbeddedEventLoop()
        let loop: ServerLoop
        let pairs: [SocketPair]
        let channels: [FakeChannel]
        let outputs: [ConnectionOutput]

        init(count: Int = 1) {
            let loop = ServerLoop(self.eventLoop, .init(), FlushQueue(eventLoop: self.eventLoop))
            self.loop = loop
            self.pairs = (0..<count).map { _ in SocketPair() }
            self.channels = self.pairs.map { FakeChannel($0) }
            self.outputs = zip(self.pairs, self.channels).map { pair, channel in
                let output = ConnectionOutput(loop)
                output.attach(channel)
                output.open(descriptor: pair.writing)
                return output
            }
        }
    }

    private func encode(_ text: String, _ output: ConnectionOutput) {
        output.encode { _ = $0.writeString(text) }
    }

    @Test func partialWriteLeavesTheRestToTheChannel() {
        let all = Outputs()
        let (output, channel, pair) = (all.outputs[0], all.channels[0], all.pairs[0])
        let sent = (0..<(1 << 18)).map { UInt8(truncatingIfNeeded: $0 % 251) }
        output.write(ByteBuffer(bytes: sent))
        let accepted = pair.read()
        #expect(!accepted.isEmpty && accepted + channel.held == sent)
        // The rest is flushed without being asked for, and nothing overtakes it though there is room.
        output.write(ByteBuffer(string: "behind"))
        #expect(pair.read().isEmpty)
        #expect(channel.flushes == 0)
        all.eventLoop.run()
        #expect(channel.flushes == 1)
        var received = accepted
        while channel.heldBytes > 0 {
            received += pair.read()
            channel.socketBecameWritable()
        }
        #expect(received + pair.read() == sent + bytes("behind"))
    }

    @Test func channelIsSkippedAgainOnceItIsEmpty() {
        let all = Outputs()
        let (output, channel, pair) = (all.outputs[0], all.channels[0], all.pairs[0])
        output.write(ByteBuffer(repeating: 1, count: 1 << 18))
        all.eventLoop.run()
        while channel.heldBytes > 0 {
            _ = pair.read()
            channel.socketBecameWritable()
        }
        _ = pair.read()
        let flushes = channel.flushes
        output.write(ByteBuffer(string: "direct"))
        #expect(pair.read() == bytes("direct"))
        #expect(channel.flushes == flushes)
    }

    @Test func errorIsLeftToTheChannel() {
        let all = Outputs()
        all.pairs[0].closeReading()
        all.outputs[0].write(ByteBuffer(string: "lost"))
        #expect(all.channels[0].held == bytes("lost"))
        all.eventLoop.run()
        #expect(all.channels[0].flushes == 1)
    }

    @Test func everythingThatIsNotTheKernelsCountsAsBuffered() {
        let all = Outputs()
        let (output, channel) = (all.outputs[0], all.channels[0])
        output.write(ByteBuffer(string: "kernel"))
        #expect(output.bufferedBytes == 0)
        all.loop.flushes.hold()
        output.writeWithTurn(ByteBuffer(string: "gathered"))
        self.encode("encoded", output)
        #expect(output.bufferedBytes == 15)
        all.loop.flushes.release()
        #expect(output.bufferedBytes == 0)
        output.write(ByteBuffer(repeating: 1, count: 1 << 18))
        #expect(output.bufferedBytes == channel.heldBytes && channel.heldBytes > 0)
        all.eventLoop.run()
    }

    @Test func closedOutputLeavesEverythingToTheChannel() {
        let all = Outputs()
        all.outputs[0].close()
        all.outputs[0].write(ByteBuffer(string: "late"))
        #expect(all.channels[0].held == bytes("late"))
        #expect(all.pairs[0].read().isEmpty)
        all.eventLoop.run()
    }

    @Test func lostConnectionForgetsWhatWaitsAndFreesTheOutbox() {
        let all = Outputs(count: 2)
        self.encode("first", all.outputs[0])
        all.outputs[0].discard()
        all.outputs[0].detach()
        self.encode("second", all.outputs[1])
        self.encode("ignored", all.outputs[0])
        all.eventLoop.run()
        #expect(all.pairs[0].read().isEmpty)
        #expect(all.pairs[1].read() == bytes("second"))
    }

    /// Two connections of one loop, sends of every kind and size, flushes, and clients that read now and then.
    @Test(arguments: 0..<12) func orderHoldsUnderEverySchedule(seed: UInt64) {
        let all = Outputs(count: 2)
        var random = SplitMix64(seed: seed)
        var sent: [[UInt8]] = [[], []]
        var received: [[UInt8]] = [[], []]
        for step in 0..<400 {
            let index = Int.random(in: 0...1, using: &random)
            let size = Int.random(in: 0..<8, using: &random) == 0 ? 30_000 : 40
            let piece = (0..<Int.random(in: 1...size, using: &random)).map { UInt8(truncatingIfNeeded: $0 &+ step) }
            let output = all.outputs[index]
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                output.write(ByteBuffer(bytes: piece))
                sent[index] += piece
            case 1:
                output.writeWithTurn(ByteBuffer(bytes: piece))
                sent[index] += piece
            case 2, 3:
                output.encode { _ = $0.writeBytes(piece) }
                sent[index] += piece
            case 4: all.loop.flushes.hold()
            case 5: all.loop.flushes.release()
            case 6: all.channels[index].socketBecameWritable()
            default: received[index] += all.pairs[index].read(upTo: piece.count * 20)
            }
        }
        all.loop.flushes.release()
        all.eventLoop.run()
        for index in 0...1 {
            repeat {
                received[index] += all.pairs[index].read()
                all.channels[index].socketBecameWritable()
            } while all.outputs[index].bufferedBytes > 0
            received[index] += all.pairs[index].read()
            #expect(received[index] == sent[index])
        }
    }
}
