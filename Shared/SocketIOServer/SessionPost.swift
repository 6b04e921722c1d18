internal import SocketIO

/// The POST that a session receives. Its packets are passed on as they come, so no more than one is kept.
///
/// Also after an upgrade: not every client completes its POST before that, or resends it.
final class SessionPost {
    private enum State {
        case reading(EnginePayloadReader)
        /// One of its packets ended the session, or was a close packet: the rest is ignored.
        case over
        /// The session ended before it was complete.
        case dropped
    }

    enum Refusal {
        /// Not packets of Engine.IO, or too many, or not what the session accepts: 400.
        case malformed
        /// A packet is larger than ``SocketIOServer/Configuration/maxPayload``: 413.
        case tooLarge
    }

    private let session: EngineIOSession
    private var state: State

    init(_ session: EngineIOSession) {
        let configuration = session.loop.configuration
        self.session = session
        self.state = .reading(
            EnginePayloadReader(maxPackets: configuration.maxPostPackets, maxPacket: configuration.maxPayload))
    }

    var heldBytes: Int { if case .reading(let reader) = self.state { reader.heldBytes } else { 0 } }

    func sessionEnded() {
        if case .reading = self.state { self.state = .dropped }
    }

    // MARK: The request

    func completed(_ exchange: HTTPExchange) {
        self.session.postEnded()
        if case .dropped = self.state { return exchange.answer(.badRequest) }
        let refusal = self.read(nil, exchange.connection)
        self.state = .dropped
        if let refusal { exchange.refusePost(refusal) } else { self.session.answerPost(exchange) }
    }

    /// The connection broke before the body was complete.
    func lost() {
        self.session.postEnded()
        self.session.finish(.leftByClient)
    }

    /// The body was too large or malformed; it is answered elsewhere.
    func refused() {
        self.session.postEnded()
        self.session.end(.payloadTooBig)
    }

    // MARK: Packets

    /// Processes the packets that a part of the body completes, or the last one, which ends with the body.
    /// - Returns: why the POST is refused; the session has ended then.
    func read(_ part: UnsafeRawBufferPointer?, _ connection: PeerHandler) -> Refusal? {
        guard case .reading(var reader) = self.state else { return nil }
        self.state = .dropped
        let count = reader.count
        defer { connection.charge(messages: reader.count - count) }
        do throws(EnginePayloadError) {
            if let part {
                var offset = 0
                while self.session.phase.takesPackets, let packet = try reader.next(part, at: &offset) {
                    self.pass(packet, reader)
                }
            } else {
                self.pass(try reader.last(), reader)
            }
        } catch {
            return self.refuse(error)
        }
        // A close packet is not an error; a protocol violation is.
        if self.session.phase.isViolation { return .malformed }
        self.state = self.session.phase.takesPackets ? .reading(reader) : .over
        return nil
    }

    private func pass(_ packet: EnginePacket, _ reader: EnginePayloadReader) {
        switch packet {
        case .binary(let bytes): self.session.binaryMessage(bytes)
        case .text(let type): reader.withContent { self.session.packetReceived(type, $0) }
        }
    }

    private func refuse(_ error: EnginePayloadError) -> Refusal {
        switch error {
        case .packetTooLarge, .tooManyPackets: self.session.end(.payloadTooBig)
        case .emptyPacket, .unknownType, .badBase64, .notUTF8: self.session.violated()
        }
        return error == .packetTooLarge ? .tooLarge : .malformed
    }
}
