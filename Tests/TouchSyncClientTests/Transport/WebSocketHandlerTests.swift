#if os(Linux)
    import NIOCore
    import NIOEmbedded
    import NIOWebSocket
    import Testing

    @testable import TouchSyncClient

    /// When more is read from the network.
    @Suite(.timeLimit(.minutes(1))) struct WebSocketHandlerTests {
        private let mailbox = ConnectionMailbox(sendLimit: 100)
        private let counter = ReadCounter()
        private let channel = NIOAsyncTestingChannel()

        init() async throws {
            let (channel, counter, mailbox) = (self.channel, self.counter, self.mailbox)
            try await channel.testingEventLoop.executeInContext {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(counter)
                let assembly = MessageAssembly(messageLimit: 100, fragmentLimit: 10)
                try pipeline.addHandler(WebSocketHandler(mailbox, assembly))
            }
        }

        /// Wants to read; whether the network is read.
        private func reads() async throws -> Bool {
            let (channel, counter) = (self.channel, self.counter)
            return try await channel.testingEventLoop.executeInContext {
                let before = counter.count
                channel.read()
                return counter.count > before
            }
        }

        private func arrive(_ text: String) async throws {
            try await self.channel.writeInbound(
                WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text)))
        }

        @Test func readingPausesWhileFourMessagesWait() async throws {
            for number in 0..<4 {
                #expect(try await self.reads())
                try await self.arrive("\(number)")
            }
            #expect(try await !self.reads())
            let resumed = Notes<Void>()
            #expect(await self.mailbox.receive { resumed.add(()) } == "0")
            await resumed.next()
            #expect(try await self.reads())
            #expect(await self.mailbox.receive { Issue.record("Nothing was paused.") } == "1")
        }

        @Test func oneReadCanBringMore() async throws {
            for number in 0..<20 { try await self.arrive("\(number)") }
            #expect(try await !self.reads())
            let resumed = Notes<Int>()
            for number in 0..<20 { #expect(await self.mailbox.receive { resumed.add(number) } == "\(number)") }
            #expect(await resumed.next() == 16)
            resumed.add(-1)
            #expect(await resumed.next() == -1)
        }

        @Test func endedConnectionReadsToTheEnd() async throws {
            for number in 0..<4 { try await self.arrive("\(number)") }
            #expect(try await !self.reads())
            self.mailbox.end(discardingMessages: false)
            #expect(try await self.reads())
            for number in 0..<4 { #expect(await self.mailbox.receive {} == "\(number)") }
            #expect(await self.mailbox.receive {} == nil)
        }

        @Test func admissionStopsBeyondTheLimit() {
            #expect(self.mailbox.admit(1000) == .accepted)
            #expect(self.mailbox.admit(1) == .overflow)
            self.mailbox.sent(900)
            #expect(self.mailbox.admit(1) == .accepted)
            #expect(self.mailbox.admit(1) == .overflow)
            #expect(self.mailbox.end(discardingMessages: true))
            #expect(!self.mailbox.end(discardingMessages: true))
            #expect(self.mailbox.admit(1) == .ended)
        }
    }

    /// Counts what reaches the network; used on the channel's loop only.
    private final class ReadCounter: ChannelOutboundHandler, @unchecked Sendable {
        typealias OutboundIn = NIOAny
        private(set) var count = 0

        func read(context: ChannelHandlerContext) {
            self.count += 1
            context.read()
        }
    }
#endif
