import DequeModule
import JSONBytes
import Wire

/// The requests over HTTP whose commits are under way. The commits of a request go one after the other, under the numbers
/// 1, 2, 3 … of its session, up to the first refusal:
///
///     begin ──► next: a commit to send ──► its result ──► next … ──► the answer
///                └► a refusal, or nothing left ───────────────────────┘
struct OpenCommitRequests {
    private struct Stream: Hashable {
        let room: Identifier
        let session: Identifier
    }

    private struct Request {
        let stream: Stream
        let parent: TraceParent?
        let answer: RequestedEdits.Answer
        var rest: Deque<Result<Commit, Refusal>>
        var results: [[UInt8]] = []
        var resultBytes = 0
        var refusal: Refusal?
    }

    private var requests: [UInt64: Request] = [:]
    private var streams: Set<Stream> = []
    /// Beyond that many bytes of results the next ones say only what number each commit got.
    private let resultBytes: Int

    init(resultBytes: Int) { self.resultBytes = resultBytes }

    /// A request came.
    /// - Throws: `busy` while another request has the same session.
    mutating func begin(
        _ request: UInt64, of session: Identifier, in room: Identifier, parent: TraceParent?,
        answer: RequestedEdits.Answer, _ commits: [Result<Commit, Refusal>]
    ) throws(Refusal) {
        let stream = Stream(room: room, session: session)
        guard self.streams.insert(stream).inserted else {
            throw Refusal(.busy, "A request with the same Idempotency-Key is under way.", retryAfterMs: 200)
        }
        self.requests[request] = Request(stream: stream, parent: parent, answer: answer, rest: Deque(commits))
    }

    /// Removes and returns what is next; nil when nothing is left, and behind a refusal.
    mutating func next(of request: UInt64) -> (step: Result<Commit, Refusal>, parent: TraceParent?)? {
        guard let known = self.requests[request], known.refusal == nil,
            let step = self.requests[request]?.rest.popFirst()
        else { return nil }
        return (step, known.parent)
    }

    /// A commit has its result.
    /// - Parameters:
    ///   - seq: the number that it got.
    ///   - json: its acknowledgement.
    mutating func resultReceived(of request: UInt64, seq: UInt64?, refusal: Refusal?, json: [UInt8]) {
        guard let known = self.requests[request] else { return }
        let isLong = known.resultBytes + json.count > self.resultBytes && refusal == nil && !known.results.isEmpty
        let text = isLong ? Self.short(seq) : json
        self.requests[request]?.results.append(text)
        self.requests[request]?.resultBytes += text.count
        self.requests[request]?.refusal = refusal
    }

    private static func short(_ seq: UInt64?) -> [UInt8] {
        JSONWriter.text { writer in
            writer.member("ok", true)
            writer.member("seq", ifPresent: seq)
        }
    }

    /// A request has all its results.
    /// - Returns: its answer, and the commits that are not sent any more.
    mutating func end(_ request: UInt64) -> (status: Int, json: [UInt8], unsent: [Commit])? {
        guard let ended = self.requests.removeValue(forKey: request) else { return nil }
        self.streams.remove(ended.stream)
        let unsent = ended.rest.compactMap { try? $0.get() }
        switch ended.answer {
        case .single(let status):
            return (ended.refusal?.httpStatus ?? status, ended.results.first ?? [], unsent)
        case .list:
            var writer = JSONWriter(reserving: ended.resultBytes + ended.results.count + 64)
            writer.object { writer in
                writer.member("ok", ended.refusal == nil)
                writer.key("results")
                writer.beginArray()
                for result in ended.results { writer.raw(result) }
                writer.endArray()
            }
            return (ended.refusal == nil ? 200 : 207, writer.bytes, unsent)
        }
    }
}
