/// The named loads, the standard ones first, in the order in which they run.
package enum BenchPreset: String, CaseIterable, Sendable {
    /// Runs first: a server that was busy before has free memory that new connections use.
    case idle
    case manyRooms = "many-rooms"
    case light
    case bigRooms = "big-rooms"
    case lone
    case deliveriesMax = "deliveries-max"
    case commits200 = "commits-200"
    case commitsMax = "commits-max"
    case slowReaders = "slow-readers"
    case overload
    /// 200 commits a second, alone and beside groups of 500 elements.
    case groups
    /// Viewers of 1,000 movers, without viewports and with viewports that contain 5 % of them; not a standard one.
    case viewports
    /// Senders that drag, pinch and rotate, some of them groups, beside senders of values; not a standard one.
    case gestures
    /// Ten thousand connections, which takes long; not a standard one.
    case scale

    /// The loads of `--preset standard`.
    package static var standard: [BenchPreset] {
        self.allCases.filter { ![.viewports, .gestures, .scale].contains($0) }
    }

    /// Its phases, in order.
    package var phases: [NamedLoad] {
        switch self {
        case .slowReaders: Self.slowReaderPhases
        case .overload: Self.overloadPhases
        case .groups: Self.groupPhases
        case .viewports: Self.viewportPhases
        case .gestures: Self.gesturePhases
        case .scale: Self.scalePhases
        default: [NamedLoad(self.rawValue, self.load, goals: self.goals)]
        }
    }

    /// The load of a preset with one phase.
    private var load: Load {
        var load = Load()
        switch self {
        case .manyRooms, .slowReaders, .overload, .groups, .viewports, .gestures, .scale:
            break
        case .light:
            load.rooms = 5
            load.rate = 30
        case .bigRooms:
            load.rooms = 5
            load.members = 50
            load.senders = 5
            load.rate = 30
        case .lone:
            load.rooms = 1
            load.members = 2
            load.senders = 1
        case .deliveriesMax:
            // 20 × 7 × 60 × 29 = 243,600 deliveries a second, if none is merged.
            load.members = 30
            load.senders = 7
        case .commits200:
            load.rate = 0
            load.commitRate = 200
        case .commitsMax:
            // Every connection may commit 30 times a second: many connections, in rooms of two.
            load.rooms = 700
            load.members = 2
            load.senders = 0
            load.rate = 0
            load.committers = 2
            load.commitWindow = 4
            load.ramp = 4
            load.warmUp = 5
        case .idle:
            load.rooms = 0
            load.members = 1
            load.senders = 0
            load.idle = 5000
            load.ramp = 5
            load.duration = 3
        }
        return load
    }

    /// Its goals on a machine with two cores.
    private var goals: [Goal] {
        switch self {
        case .manyRooms: [Goal(.cpuPerDelivery, 6), Goal(.previewP50, 8), Goal(.previewP99, 20)]
        case .light: [Goal(.cpuPerDelivery, 20)]
        case .bigRooms: [Goal(.cpuPerDelivery, 3)]
        case .lone: [Goal(.previewP50, 1), Goal(.previewP99, 5)]
        case .deliveriesMax: [Goal(.deliveriesPerSecond, 200_000), Goal(.previewP99, 50)]
        case .commits200: [Goal(.acknowledgementP50, 1.5), Goal(.acknowledgementP99, 5)]
        case .commitsMax: [Goal(.commitsPerSecond, 30_000), Goal(.cpuPerCommit, 40)]
        case .idle: [Goal(.memoryPerIdle, 4)]
        case .slowReaders, .overload, .groups, .viewports, .gestures, .scale: []
        }
    }
}
