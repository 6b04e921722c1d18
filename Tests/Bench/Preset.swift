/// Named loads that run one after the other.
struct Preset: Sendable {
    /// One of them.
    struct Phase: Sendable {
        /// Empty: the only one.
        var name = ""
        var load = Load()
        var goals: [Goal] = []

        init(_ name: String, _ load: Load, _ goals: Goal...) {
            (self.name, self.load, self.goals) = (name, load, goals)
        }
    }

    /// The senders of each room that a search tries.
    static let attempts = [2, 3, 4, 5, 6, 7, 8, 10, 12, 15]

    let name: String
    /// Part of `--preset standard`.
    var isStandard = true
    /// A load that is tried first with more and more senders, until previews do not arrive in time. The phases then use
    /// its connections, so that any backlog is still there.
    var search: Load?
    var phases: [Phase]

    /// All presets, in the order in which they run, with their goals on a machine with two cores. `idle` is the first,
    /// because a server that was busy before has free memory that new connections use.
    static let all: [Preset] = [
        one("idle", Load(rooms: 0, members: 1, senders: 0, idle: 5000, ramp: 5, duration: 3), Goal(.memoryPerIdle, 4)),
        one("many-rooms", Load(), Goal(.cpuPerDelivery, 6), Goal(.previewP50, 8), Goal(.previewP99, 20)),
        one("light", Load(rooms: 5, rate: 30), Goal(.cpuPerDelivery, 20)),
        one("big-rooms", Load(rooms: 5, members: 50, senders: 5, rate: 30), Goal(.cpuPerDelivery, 3)),
        one("lone", Load(rooms: 1, members: 2, senders: 1), Goal(.previewP50, 1), Goal(.previewP99, 5)),
        // 20 × 7 × 60 × 29 = 243,600 deliveries a second, if none is merged.
        one(
            "deliveries-max", Load(members: 30, senders: 7), Goal(.deliveriesPerSecond, 200_000), Goal(.previewP99, 50)),
        one("commits-200", commits, Goal(.acknowledgementP50, 1.5), Goal(.acknowledgementP99, 5)),
        // Many connections, because each may commit 30 times a second, in rooms of two.
        one(
            "commits-max",
            Load(
                rooms: 700, members: 2, senders: 0, rate: 0, commits: .acknowledged(window: 4), committers: 2, ramp: 4,
                warmUp: 5),
            Goal(.commitsPerSecond, 30_000), Goal(.cpuPerCommit, 40)),
        // Elements are large, so that unread output piles up within seconds.
        Preset(
            name: "slow-readers",
            phases: [
                Phase("without", large),
                Phase(
                    "beside 1 B/s", large.with(\.members, 20).with(\.slowReaders, 10).with(\.slowBytes, 1),
                    Goal(.previewP99, 1.2, times: .first), Goal(.memoryGrowth, 1.25)),
                Phase(
                    "beside the deaf", large.with(\.members, 20).with(\.slowReaders, 10),
                    Goal(.previewP99, 1.2, times: .first), Goal(.memoryGrowth, 1.25)),
            ]),
        Preset(
            name: "overload", search: Load(members: 30, warmUp: 1, duration: 2),
            phases: [
                Phase("calm", calm),
                Phase(
                    twiceTooMuch, calm.with(\.rate, 60), Goal(.acknowledgementP99, 4, times: .first),
                    Goal(.unanswered, 0), Goal(.memoryGrowth, 1.1)),
                Phase("calm again", calm, Goal(.previewP99, 20), Goal(.unanswered, 0)),
            ]),
        // Groups of 500 elements are written and broadcast as a whole.
        Preset(
            name: "groups",
            phases: [
                Phase("without", commits.with(\.elements, 500)),
                Phase(
                    "beside groups", commits.with(\.elements, 500).with(\.groupRate, 2), Goal(.groupP50, 25),
                    Goal(.acknowledgementP99, 2, times: .first), Goal(.unanswered, 0)),
            ]),
        Preset(
            name: "viewports", isStandard: false,
            phases: [Phase("everything", viewed), Phase("5 % in view", viewed.with(\.viewShare, 0.05))]),
        // Each sender commits every 1.5 s.
        Preset(
            name: "gestures", isStandard: false,
            phases: [
                Phase("values", Load(rooms: 10, senders: 4, rate: 30, commits: .steady(40 / 1.5))),
                Phase(
                    "deltas", Load(rooms: 10, senders: 4, rate: 30, elements: 9, gesturePreviews: 44),
                    Goal(.previewP99, 20), Goal(.cpuPerDelivery, 2, times: .first), Goal(.unanswered, 0)),
            ]),
        // 60 previews and 420 deliveries a second, however many rooms. Each has one sender, because previews of one room
        // leave together: with more senders fewer rooms would be cheaper.
        Preset(
            name: "scale", isStandard: false,
            phases: [(1, 60, 1), (10, 6, 1), (100, 0.6, 1), (1000, 0.06, 10)].map { rooms, rate, ramp in
                Phase(
                    "rooms: \(rooms)", Load(rooms: rooms, members: 8, senders: 1, rate: rate, ramp: ramp),
                    Goal(.cpuPerDelivery, 1.5, times: .lowest))
            }),
    ]

    /// Its senders are twice those that the search found.
    static let twiceTooMuch = "twice too much"
    private static let commits = Load(rate: 0, commits: .steady(200))
    private static let calm = Load(
        members: 30, senders: 1, rate: 10, commits: .steady(200), committers: 2, duration: 8)
    private static let large = Load(
        rooms: 10, rate: 30, commits: .steady(200), elementBytes: 6000, ramp: 1, duration: 6)
    private static let viewed = Load(rooms: 1, members: 1020, senders: 1000, rate: 4, viewShare: 1, ramp: 8)

    private static func one(_ name: String, _ load: Load, _ goals: Goal...) -> Preset {
        var phase = Phase("", load)
        phase.goals = goals
        return Preset(name: name, phases: [phase])
    }
}

extension Load {
    fileprivate func with<Value>(_ number: WritableKeyPath<Load, Value>, _ value: Value) -> Load {
        var load = self
        load[keyPath: number] = value
        return load
    }
}
