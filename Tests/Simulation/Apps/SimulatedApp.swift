/// What the world needs of an app, however it decides what to do.
protocol SimulatedApp: AnyObject {
    /// What reaches it, and what it is seen to do.
    var witness: RoomWitness { get }
    /// Its connection, as far as it knows.
    var connection: AppConnection? { get set }
    /// The name of its session in the room; empty before the first join.
    var sid: String { get }
    /// What it shows of its person over its connection but its cursor, by part.
    var shown: [String: String] { get }
    /// The users whom it shows as members of its room.
    var members: Set<String> { get }
    /// The same of others by session, as it sees it, and the sessions whose cursors it sees.
    var seen: [String: [String: String]] { get }
    var cursors: Set<String> { get }
    /// Whether it asked for previews that leave together in one message.
    var takesBatches: Bool { get }
    /// False once it begins nothing new.
    var isBusy: Bool { get set }

    /// It may begin.
    func connect()
    /// Something came from the gateway.
    func received(_ message: AppMessage, _ text: AppText)
    /// The connection is gone, and not on its own wish.
    func cutOff()
    /// True when nothing is open and it has all of its room up to that number.
    func isSettled(at seq: UInt64) -> Bool
    /// Its part in the last scene: what it does before it, and in it.
    func prepareScene()
    func playScene()
}

extension SimulatedApp {
    var name: String { self.witness.name }
    var room: String { self.witness.room }
    var world: World { self.witness.world }
    var sight: RoomWitness.Sight { self.witness.sight }
}
