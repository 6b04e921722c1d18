import HistoryChecker
import JSONBytes

/// A back end that follows a room over HTTP: it reads the room's stream, sends nothing, and goes on behind the last event
/// whenever the stream has ended.
final class Subscriber: SimulatedApp {
    let witness: RoomWitness
    var connection: AppConnection?
    var isBusy = true
    let takesBatches = false
    /// The id of its last event; nil before the first one.
    private var place: String?

    init(_ name: String, room: String, in world: World) {
        self.witness = RoomWitness(name, room: room, in: world)
    }

    // Others do not see it, and it sees only what is stored.
    var sid: String { "" }
    var shown: [String: String] { [:] }
    var members: Set<String> { [] }
    var seen: [String: [String: String]] { [:] }
    var cursors: Set<String> { [] }

    func isSettled(at seq: UInt64) -> Bool {
        self.connection != nil && self.witness.place?.seq == seq && !self.isBusy
    }

    func connect() {
        guard self.connection == nil else { return }
        guard let connection = self.world.socket(of: self) else {
            return self.world.after(100 * .millisecond) { [weak self] in self?.connect() }
        }
        self.connection = connection
        self.witness.joinSent(after: self.witness.place?.seq)
        self.world.tell(connection, .subscribed(user: self.name, room: self.room, place: self.place))
    }

    func cutOff() {
        self.witness.disconnected()
        self.connection = nil
        self.world.after(self.world.random.number(10...400) * .millisecond) { [weak self] in self?.connect() }
    }

    func received(_ message: AppMessage, _ text: AppText) {
        guard case .event = message else { return }
        for block in String(decoding: text.json, as: UTF8.self).split(separator: "\n\n") {
            self.read(block)
        }
    }

    /// Reads one event, or the comment with which a stream begins that goes on from a place.
    private func read(_ block: Substring) {
        let fields = block.split(separator: "\n").map { $0.split(separator: ": ", maxSplits: 1).map(String.init) }
        guard fields.count == 3, fields.allSatisfy({ $0.count == 2 }) else { return self.goOn() }
        self.place = fields[0][1]
        let data = AppText(Array(fields[2][1].utf8)).root
        if fields[1][1] == "room:reset" {
            self.joined(data)
        } else {
            self.world.count("subscribers.events")
            self.witness.received(fields[1][1], data)
        }
    }

    private func goOn() {
        guard let known = self.witness.place else { return }
        self.world.count("subscribers.resumed")
        let answer = JSONWriter.text { writer in
            writer.member("epoch", known.epoch)
            writer.member("seq", known.seq)
            writer.member("updates", raw: Array("[]".utf8))
        }
        self.joined(AppText(answer).root)
    }

    private func joined(_ answer: JSONValue) {
        _ = self.witness.joined(answer)
        // Previews are not for it: the history must expect none.
        self.witness.looks()
    }

    func prepareScene() {}
    func playScene() {}
}
