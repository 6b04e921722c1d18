import JSONBytes

/// How a room's parts reach the server and the app.
struct RoomAddress: Sendable {
    let id: TextKey
    /// What requests call the room: another one after it was left and joined again, so that late answers find nobody.
    let serial: Int

    func tell(_ output: RoomOutput, _ outbox: inout ClientOutbox) {
        outbox.tell(.room(self.id.text, output))
    }

    /// Sends what may be lost.
    func send(_ event: String, _ outbox: inout ClientOutbox, _ payload: (inout JSONWriter) -> Void) {
        outbox.emit(event) { writer in
            writer.member("roomId", self.id.text)
            payload(&writer)
        }
    }

    /// Sends what has an answer.
    func ask(
        _ event: String, about subject: RequestSubject, _ outbox: inout ClientOutbox,
        _ payload: (inout JSONWriter) -> Void
    ) {
        outbox.request(event, about: subject) { writer in
            writer.member("roomId", self.id.text)
            payload(&writer)
        }
    }
}
