import Dispatch
import NIOCore
import Testing

@testable import SocketIOServer

/// What is written past the channel and what goes through it must come out as one stream.
@Suite(.timeLimit(.minutes(1))) struct DirectWriteTests {
    @Test func nothingOvertakesWhatTheKernelDidNotTake() throws {
        let fixture = try ServerFixture { $0.maxBufferedBytes = 256 << 20 }
        let client = try fixture.connectedSocket()
        #expect(try fixture.sendNumberedEvents() > 1 << 20)
        try fixture.expectNumberedEvents(at: client)
        // Everything is out, so the next packet is the kernel's at once.
        let left = try fixture.onLoop { _, application in
            application.sockets[0].send(PreparedPacket(event: bytes(#"["last"]"#)))
            return application.sockets[0].bufferedBytes
        }
        #expect(left == 0)
        #expect(try client.message() == #"42["last"]"#)
    }

    @Test func theKernelsNewRoomIsForWhatWaitsInTheChannel() throws {
        let fixture = try ServerFixture { $0.maxBufferedBytes = 256 << 20 }
        let client = try fixture.connectedSocket()
        let (server, application) = (fixture.server, fixture.application)
        let filler = String(repeating: "x", count: 60_000)
        let waiting = try fixture.onLoop { server, application in
            for number in 0..<500 {
                application.sockets[0].send(PreparedPacket(event: bytes(#"["n",\#(number),"\#(filler)"]"#)))
                server.flush()
            }
            return application.sockets[0].bufferedBytes
        }
        let inKernel = 500 - (waiting + 59_999) / 60_000 - 1
        try #require(inKernel > 0 && inKernel < 499)
        // One turn of the loop: while it lasts, the channel cannot notice that the client reads.
        let (isHeld, hasRoom) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let turn = server.eventLoop.submit {
            isHeld.signal()
            hasRoom.wait()
            application.sockets[0].send(PreparedPacket(event: bytes(#"["last"]"#)))
        }
        isHeld.wait()
        let first = Result { try (0..<inKernel).map { _ in try client.message() } }
        // Whatever came: the loop must go on.
        hasRoom.signal()
        try turn.wait()
        let rest = try (inKernel..<500).map { _ in try client.message() }
        for (number, message) in try (first.get() + rest).enumerated() {
            try #require(message.hasPrefix(#"42["n",\#(number),"#), "\(message.prefix(20)) instead of \(number)")
        }
        #expect(try client.message() == #"42["last"]"#)
    }

    @Test func noOtherHandlerIsInTheWay() throws {
        let fixture = try ServerFixture()
        let client = try fixture.connectedSocket()
        let pipelines = try fixture.onLoop { server, _ in
            server.connections.all.map { $0.context?.pipeline.debugDescription ?? "" }
        }
        #expect(pipelines.count == 1)
        // One line of the description is a heading.
        #expect(pipelines[0].split(separator: "\n").count { $0.contains("↓↑") } == 2, "\(pipelines[0])")
        client.close()
    }

    @Test func aConnectionThatWasResetEndsWithTheNextWrite() throws {
        let fixture = try ServerFixture()
        let client = try fixture.connectedSocket()
        // Closed with unread bytes, so that the kernel resets it.
        try fixture.onLoop { _, application in
            application.sockets[0].send(PreparedPacket(event: bytes(#"["unread"]"#)))
        }
        client.close()
        #expect(
            try fixture.eventually { server, application in
                if server.sessionCount == 0 { return true }
                application.sockets[0].send(PreparedPacket(event: bytes(#"["more"]"#)))
                server.flush()
                return false
            })
        #expect(try fixture.log().last?.hasPrefix("disconnected") == true)
    }

    @Test func aTurnsPacketsOfOneSocketWaitForEachOther() throws {
        let fixture = try ServerFixture { $0.maxBufferedBytes = 256 << 20 }
        let clients = [try fixture.connectedSocket(), try fixture.connectedSocket()]
        let filler = String(repeating: "x", count: 3000)
        // By turns to both, shared and encoded ones, and more than is kept together.
        let (waiting, left) = try fixture.onLoop { server, application in
            var waiting = 0
            server.flushing {
                for number in 0..<60 {
                    for socket in application.sockets {
                        let json = bytes(#"["n",\#(number),"\#(filler)"]"#)
                        if number % 3 == 0 { socket.emit(json) } else { socket.send(PreparedPacket(event: json)) }
                    }
                    if number == 9 { waiting = application.sockets.map(\.bufferedBytes).min() ?? 0 }
                }
            }
            return (waiting, application.sockets.map(\.bufferedBytes))
        }
        #expect(waiting > 10 * 3000)
        #expect(left == [0, 0])
        for client in clients {
            for number in 0..<60 {
                let message = try client.message()
                try #require(message.hasPrefix(#"42["n",\#(number),"#), "\(message.prefix(20)) instead of \(number)")
            }
        }
    }
}
