/// A figure of a daemon. Raw values are the names in JSON.
enum PipelineFigure: String, CaseIterable, Hashable, Sendable {
    // Traffic, in records a second.
    case previewsIn, previewsOut, commitsIn, commitsOut, updatesIn, updatesOut
    /// Previews that left a coalescer merged into others, or not at all.
    case previewsCollapsed
    /// Previews that left a coalescer and came back, because a link was full.
    case previewsReturned
    /// Commits sent again by gateways, and copies that committers received.
    case commitsResent
    /// Joins and gateways that got exactly what they had missed, and whole rooms.
    case replays, snapshots
    /// Members that must join again: of rooms, and because they read too slowly.
    case resyncs, slowMembers
    /// Transactions, and reads of state, in a second.
    case batches, databaseReads
    /// Rooms slowed down or sped up, in a second.
    case intervalChanges
    case reconnects
    /// Processor time, in cores.
    case cpu
    // Present values.
    case memoryBytes, openDescriptors, maxDescriptors
    case connections, rooms
    /// Commits that wait or are in flight in a stage, their bytes, and the age of the oldest, seconds.
    case queueCommits, queueBytes, queueAge
    /// Previews that wait, and the age of the oldest, seconds.
    case queuePreviews, previewQueueAge
    /// Neighbours that grant no more commits, and those whose link accepts no more.
    case lanesClosed, peersBlocked
    case joinsWaiting
    /// Bytes that wait for neighbours.
    case outboxBytes
    /// Connections that do not read what they are sent.
    case slowApps
    /// How late previews were delivered lately, a mean, seconds.
    case previewLateness
    /// Rooms that are slowed down, by their flush interval, ms.
    case roomsAt33, roomsAt66, roomsAt200
    case databaseConnections
    /// Updates by which the shard that is furthest behind is behind.
    case shardLag
    /// Committers with other rules, and 1 while a rules file is refused.
    case rulesDiffering, rulesRefused
    case linksUp

    /// How the figure comes about.
    enum Kind: Sendable {
        /// The growth of a counter, per second.
        case rate
        case value
    }

    var kind: Kind {
        switch self {
        case .previewsIn, .previewsOut, .commitsIn, .commitsOut, .updatesIn, .updatesOut, .previewsCollapsed,
            .previewsReturned, .commitsResent, .replays, .snapshots, .resyncs, .slowMembers, .batches, .databaseReads,
            .intervalChanges, .reconnects, .cpu:
            .rate
        default: .value
        }
    }

    /// Whether a stage's figure is the largest of its instances'; else it is their sum.
    var isMaximum: Bool {
        switch self {
        case .queueAge, .previewQueueAge, .previewLateness, .shardLag, .rulesRefused:
            true
        default: false
        }
    }

    /// Its place in a ``FigureSet``.
    var index: Int { Self.indices[self] ?? 0 }
    private static let indices = Dictionary(uniqueKeysWithValues: zip(Self.allCases, 0...))
}
