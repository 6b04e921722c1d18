internal import Boot
internal import FanoutCore
internal import JSONBytes
internal import Mesh
internal import Timing
internal import Wire

/// `/rooms` of the admin server: the first rooms in an order, or with `id` one room.
enum RoomPages {
    /// Passes questions to the loop.
    static func add(
        to pages: AdminPages, asking questions: Mailbox<RoomQuestion>, waking wake: @escaping @Sendable () -> Void
    ) {
        pages.add("/rooms") { question in
            guard let subject = Self.subject(of: question) else {
                let orders = RoomOrder.allCases.map(\.rawValue).joined(separator: ", ")
                return question.answer { AdminPage(status: 400, body: "sort is one of \(orders)\n".utf8) }
            }
            let expiresAt = MonotonicClock.now() + Nanoseconds(AdminServer.patience)
            let offer = questions.offer(RoomQuestion(subject: subject, expiresAt: expiresAt, question: question))
            guard offer == .accepted else {
                return question.answer { AdminPage(status: 503, body: "too many questions\n".utf8) }
            }
            wake()
        }
    }

    private static func subject(of question: AdminQuestion) -> RoomQuestion.Subject? {
        if let id = question.parameter("id") { return .room(Identifier(id)) }
        guard let sort = question.parameter("sort") else { return .list(.activity) }
        return RoomOrder(rawValue: sort).map { .list($0) }
    }

    static func page(of survey: RoomSurvey) -> AdminPage {
        Self.page { writer in
            writer.objects("rooms", survey.rooms, Self.write)
            writer.member("truncated", survey.isTruncated)
        }
    }

    /// One room; 404 when it is not in memory.
    /// - Parameter now: the moment of the report.
    static func page(of report: RoomReport?, at now: Instant) -> AdminPage {
        guard let report else { return AdminPage(status: 404, body: "this fan-out does not have the room\n".utf8) }
        let wallTime = Int64(clamping: WallClock.milliseconds())
        return Self.page { writer in
            Self.write(report.figures, &writer)
            writer.objects("people", report.people) { person, writer in
                writer.member("userId", person.user.text)
                writer.member("name", person.name)
                writer.member("connections", person.connections)
            }
            writer.objects("updates", report.updates) { entry, writer in
                writer.member("seq", entry.seq)
                writer.member("event", entry.event.name)
                writer.member("userId", entry.user.text)
                writer.member("elements", entry.elements)
                writer.member("at", wallTime - Int64(clamping: now.elapsed(since: entry.arrivedAt).milliseconds))
            }
        }
    }

    private static func page(_ members: (inout JSONWriter) -> Void) -> AdminPage {
        AdminPage(contentType: "application/json", body: JSONWriter.text(members))
    }

    private static func write(_ room: RoomFigures, _ writer: inout JSONWriter) {
        writer.member("roomId", room.room.text)
        writer.member("members", room.members)
        writer.member("connections", room.connections)
        writer.member("seq", room.seq)
        writer.member("elements", room.elements)
        writer.member("bytes", room.bytes)
        writer.member("updatesPerSecond", Self.tenths(room.updatesPerSecond))
        writer.member("previewsPerSecond", Self.tenths(room.previewsPerSecond))
    }

    private static func tenths(_ rate: Double) -> Double { (rate * 10).rounded() / 10 }
}
