import Canvas
import CommitterCore
import Timing
import Wire

/// One commit of a batch of fifty, from as many sessions: parsed, decided on what is known of its shard, and answered
/// when the batch is written.
struct DecideCommit: Operation {
    static let name = "decide-commit"
    static let perTurn = 50

    private var ledger = ShardLedger(
        shard: Shard.of(room: Sample.room), rules: .defaults, limits: CommitterLimits())
    private let limits = CommitterLimits()
    private var commits: [Commit]

    init() throws {
        self.commits = (0..<Self.perTurn).map { number in
            var commit = Sample.commit
            commit.session = SessionKey.gateway(sid: Sample.varied(Sample.sid, number), sessionEpoch: 1)
            commit.edit = EncodedEdit(
                TransformElement(element: Sample.varied(Sample.element, number), fields: Sample.fields))
            commit.gestures = [EndedGesture(element: Sample.varied(Sample.element, number), gesture: 3)]
            return commit
        }
        self.admit()
        guard case .load(let request) = self.ledger.next(at: 0) else { throw WrongRequest() }
        self.ledger.stateLoaded(self.state(for: request))
        guard case .write = self.ledger.next(at: 0), self.settle() else { throw WrongRequest() }
    }

    mutating func turn() -> Bool {
        self.admit()
        guard case .write(let batch) = self.ledger.next(at: 0) else { return false }
        return batch.log.count == Self.perTurn && self.settle()
    }

    private mutating func admit() {
        for index in self.commits.indices {
            self.commits[index].number += 1
            let prepared = PreparedCommit(self.commits[index], size: 150, arrived: .start)
            _ = self.ledger.admit(prepared)
        }
    }

    private mutating func settle() -> Bool {
        let settlement = self.ledger.batchWritten()
        return settlement.updates.count == Self.perTurn && settlement.results.count == Self.perTurn
            && settlement.results[Self.perTurn - 1].result.refusal == nil
    }

    /// The streams stand before their first commit, and every element is there.
    private func state(for request: LoadRequest) -> LoadedState {
        var state = LoadedState(version: 1, gseq: 1, chain: 1)
        for need in request.streams {
            state.streams[need.key] = StreamState(user: Sample.user, highest: Sample.commit.number, sessionEpoch: 1)
        }
        state.elements = request.elements.map { need in
            let note = Sample.note(need.key.element)
            let authors = RecentAuthors(last: ChangeMark(user: "ann", seq: 1))
            let live = LiveElement(element: note, json: Sample.json(note), children: nil, authors: authors)
            return LoadedState.ElementRow(key: need.key, state: .live(live))
        }
        return state
    }

    private struct WrongRequest: Error {}
}
