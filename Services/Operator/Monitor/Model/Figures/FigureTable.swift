internal import Stages

/// Which metrics of a stage make its figures: a name, and the value of a label if only some of its samples count.
/// Several samples of one figure are added up.
struct FigureTable: Sendable {
    /// Samples that belong to a figure.
    struct Row: Sendable {
        let figure: PipelineFigure
        /// nil for all samples of the metric.
        let label: (name: String, value: String)?
    }

    /// Rows by the name of the metric.
    private let rows: [String: [Row]]
    /// Metrics whose growth counts as dropped records, with the label that names the reason; nil: the metric's own name.
    private let drops: [String: String?]

    var metrics: [String] { Array(self.rows.keys) + Array(self.drops.keys) }

    func figures(of sample: ExpositionSample) -> [PipelineFigure] {
        guard let rows = self.rows[sample.name] else { return [] }
        return rows.compactMap { row in
            guard let label = row.label else { return row.figure }
            return sample[label.name] == label.value ? row.figure : nil
        }
    }

    /// The name of the kind of drops that a sample counts, such as `previews_dropped: waited`; nil when it counts none.
    func drop(of sample: ExpositionSample) -> String? {
        guard let label = self.drops[sample.name] else { return nil }
        let name = sample.name.drop(prefix: "touchsync_").drop { $0 != "_" }.dropFirst().drop(suffix: "_total")
        guard let label, let reason = sample[label] else { return String(name) }
        return "\(name): \(reason)"
    }

    static subscript(_ stage: Stage) -> FigureTable {
        switch stage {
        case .gateway: self.gateway
        case .coalescer: self.coalescer
        case .committer: self.committer
        case .fanout: self.fanout
        }
    }

    // MARK: Stages

    private static let gateway = FigureTable(
        "touchsync_gateway_",
        [
            .previewsIn: "previews_received_total", .previewsOut: "previews_sent_total",
            .commitsIn: "commits_received_total", .commitsOut: "commits_acknowledged_total",
            .commitsResent: "commits_resent_total", .updatesOut: "updates_delivered_total", .resyncs: "resyncs_total",
            .slowMembers: "slow_members_total", .slowApps: "slow_apps", .intervalChanges: "interval_changes_total",
            .connections: "connections", .queueCommits: "commits_in_flight", .queueBytes: "in_flight_bytes",
            .queueAge: "in_flight_oldest_seconds", .lanesClosed: "commit_lanes_closed",
            .joinsWaiting: "joins_waiting", .previewLateness: "preview_lateness_seconds",
            .roomsAt33: "slowed_rooms{interval=33}", .roomsAt66: "slowed_rooms{interval=66}",
            .roomsAt200: "slowed_rooms{interval=200}",
        ],
        drops: [
            "previews_dropped_total": nil, "envelopes_dropped_total": nil, "busy_total": nil,
            "handshakes_refused_total": nil, "refused_connections_total": nil, "refused_sessions_total": nil,
            "shed_connections_total": nil,
        ])

    private static let coalescer = FigureTable(
        "touchsync_coalescer_",
        [
            .previewsIn: "previews_received_total", .previewsOut: "previews_sent_total",
            .previewsCollapsed: "previews_collapsed_total", .previewsReturned: "previews_returned_total",
            .queuePreviews: "previews_held", .previewQueueAge: "previews_held_oldest_seconds",
            .rooms: "rooms",
        ],
        drops: [
            "previews_undelivered_total": "reason", "entries_evicted_total": nil,
        ])

    private static let committer = FigureTable(
        "touchsync_committer_",
        [
            .commitsIn: "commits_received_total", .commitsOut: "commits_total",
            .commitsResent: "commits_repeated_total",
            .updatesOut: "updates_published_total", .batches: "batches_total", .databaseReads: "state_reads_total",
            .queueCommits: "queue_commits", .queueBytes: "queue_bytes", .queueAge: "queue_oldest_seconds",
            .databaseConnections: "database_connections", .rulesRefused: "rules_refused",
        ],
        drops: [
            "updates_dropped_total": nil, "results_dropped_total": nil, "over_limit_total": "limit",
        ])

    private static let fanout = FigureTable(
        "touchsync_fanout_",
        [
            .previewsIn: "previews_received_total", .previewsOut: "previews_passed_total",
            .updatesIn: "updates_received_total", .replays: "replays_total", .snapshots: "snapshots_total",
            .resyncs: "resets_total", .rooms: "rooms", .joinsWaiting: "joins_waiting", .outboxBytes: "outbox_bytes",
            .peersBlocked: "gateways_blocked", .databaseConnections: "database_connections",
            .shardLag: "shard_lag_updates", .rulesDiffering: "rules_differing_committers",
            .rulesRefused: "rules_refused",
        ],
        drops: [
            "previews_dropped_total": "reason", "gateway_overflows_total": nil,
        ])

    /// What every daemon has.
    private static let common: [PipelineFigure: String] = [
        .cpu: "process_cpu_seconds_total", .memoryBytes: "process_resident_memory_bytes",
        .openDescriptors: "process_open_fds", .maxDescriptors: "process_max_fds",
    ]

    /// - Parameters:
    ///   - figures: the metric of each figure without its prefix, with `{label=value}` if only such samples count.
    ///   - drops: metrics without their prefix, and the label of the reason.
    private init(_ prefix: String, _ figures: [PipelineFigure: String], drops: [String: String?]) {
        let shared: [PipelineFigure: String] = [.reconnects: "reconnects_total", .linksUp: "links_up"]
        var rows: [String: [Row]] = [:]
        for (figure, metric) in figures.merging(shared, uniquingKeysWith: { own, _ in own }) {
            let parts = metric.split(separator: "{", maxSplits: 1)
            let label = parts.dropFirst().first?.dropLast().split(separator: "=", maxSplits: 1).map(String.init)
            rows[prefix + parts[0], default: []].append(
                Row(figure: figure, label: label.map { ($0[0], $0[1]) }))
        }
        for (figure, metric) in Self.common { rows[metric] = [Row(figure: figure, label: nil)] }
        self.rows = rows
        let links = ["link_refusals_total": "reason", "records_refused_total": nil]
        self.drops = Dictionary(
            uniqueKeysWithValues: drops.merging(links, uniquingKeysWith: { own, _ in own })
                .map { (prefix + $0.key, $0.value) })
    }
}

extension StringProtocol {
    fileprivate func drop(prefix: String) -> SubSequence {
        self.hasPrefix(prefix) ? self.dropFirst(prefix.count) : self[...]
    }

    fileprivate func drop(suffix: String) -> SubSequence {
        self.hasSuffix(suffix) ? self.dropLast(suffix.count) : self[...]
    }
}
