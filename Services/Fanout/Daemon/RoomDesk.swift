internal import Boot
internal import FanoutCore
internal import Mesh
internal import Timing
internal import Wire

/// A question of an operator about rooms, on its way from the admin server's thread to the loop.
struct RoomQuestion: Sendable {
    enum Subject: Equatable, Sendable {
        case list(RoomOrder)
        case room(Identifier)
    }

    let subject: Subject
    /// The admin server has answered it itself by then.
    let expiresAt: Instant
    let question: AdminQuestion
}

/// The loop's answers to questions about rooms.
///
/// A room is looked up immediately. Lists are walks over all rooms (``RoomSurvey``), one at a time and a step in each
/// turn; one walk answers all questions for its order that arrived before it began.
struct RoomDesk {
    private let questions: Mailbox<RoomQuestion>
    private var batch: [RoomQuestion] = []
    private var waiting: [RoomQuestion] = []
    private var survey: RoomSurvey?
    /// The questions that the walk under way answers.
    private var asking: [RoomQuestion] = []

    init(_ questions: Mailbox<RoomQuestion>) { self.questions = questions }

    /// True while a walk is under way: the next turn must follow immediately.
    var isBusy: Bool { self.survey != nil }

    /// Answers what was asked, and takes a step.
    mutating func turn(over core: borrowing Fanout, at now: Instant) {
        self.questions.drain(into: &self.batch)
        for question in self.batch {
            switch question.subject {
            case .list: self.waiting.append(question)
            case .room(let room):
                let report = core.rooms.report(on: room, at: now)
                question.question.answer { RoomPages.page(of: report, at: now) }
            }
        }
        self.batch.removeAll()
        self.beginSurvey(at: now)
        if self.survey?.advance(over: core, at: now) == true { self.endSurvey() }
    }

    private mutating func beginSurvey(at now: Instant) {
        guard self.survey == nil, !self.waiting.isEmpty else { return }
        self.waiting.removeAll { $0.expiresAt <= now }
        guard case .list(let order)? = self.waiting.first?.subject else { return }
        self.survey = RoomSurvey(by: order)
        self.asking = self.waiting.filter { $0.subject == .list(order) }
        self.waiting.removeAll { $0.subject == .list(order) }
    }

    private mutating func endSurvey() {
        guard let survey = self.survey.take() else { return }
        for question in self.asking { question.question.answer { RoomPages.page(of: survey) } }
        self.asking.removeAll()
    }
}
