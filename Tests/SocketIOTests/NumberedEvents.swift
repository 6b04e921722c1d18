import SocketIOServer

private let eventCount = 3000

extension ServerFixture {
    /// Sends the only client numbered events, in small and large pieces and flushed now and then: far more than the kernel
    /// accepts while nobody reads.
    /// - Returns: the bytes that wait for the client.
    func sendNumberedEvents() throws -> Int {
        let filler = String(repeating: "x", count: 9000)
        return try self.onLoop { server, application in
            let socket = application.sockets[0]
            for number in 0..<eventCount {
                let json = bytes(#"["n",\#(number)"# + (number % 3 == 0 ? #","\#(filler)"]"# : "]"))
                if number % 2 == 0 { socket.send(PreparedPacket(event: json)) } else { socket.emit(json) }
                if number % 5 == 0 { server.flush() }
            }
            server.flush()
            return socket.bufferedBytes
        }
    }

    /// The client receives all of them in order, after which nothing waits for it.
    func expectNumberedEvents(at client: RawClient) throws {
        for number in 0..<eventCount {
            let message = try client.message()
            guard message.hasPrefix(#"42["n",\#(number)"#) else {
                throw RawClient.Failure(message: "\(message.prefix(20)) instead of \(number)")
            }
        }
        guard try self.eventually({ _, application in application.sockets[0].bufferedBytes == 0 }) else {
            throw RawClient.Failure(message: "bytes wait that were received")
        }
    }
}
