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
    /// Metrics whose growth counts as dropped records: what they are called, and the label that names the reason, if any.
    private let drops: [String: (kind: String, label: String?)]

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
        guard let (kind, label) = self.drops[sample.name] else { return nil }
        guard let label, let reason = sample[label] else { return kind }
        return "\(kind): \(reason)"
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
            .commitsIn: "commits_accepted_total", .commitsOut: "commits_acknowledged_total",
            .commitsResent: "commits_resent_total", .updatesOut: "updates_delivered_total", .resyncs: "resyncs_total",
            .slowMembers: "slow_members_total", .slowApps: "slow_apps", .intervalChanges: "interval_changes_total",
            .connections: "connections", .queueCommits: "commits_in_flight", .queueBytes: "commits_in_flight_bytes",
            .queueAge: "commits_in_flight_oldest_seconds", .lanesClosed: "committers_without_credit",
            .joinsWaiting: "joins_waiting", .previewLateness: "preview_lateness_seconds",
            .roomsAt33: "slowed_rooms{interval_ms=33}", .roomsAt66: "slowed_rooms{interval_ms=66}",
            .roomsAt200: "slowed_rooms{interval_ms=200}",
        ],
        drops: [
            "previews_dropped_total": nil, "envelopes_dropped_total": nil, "busy_refusals_total": nil,
            "handshakes_refused_total": nil, "connections_refused_total": nil, "sessions_refused_total": nil,
            "connections_shed_total": nil,
        ])

    private static let coalescer = FigureTable(
        "touchsync_coalescer_",
        [
            .previewsIn: "previews_received_total", .previewsOut: "previews_sent_total",
            .previewsCollapsed: "previews_coalesced_total", .previewsReturned: "previews_returned_total",
            .queuePreviews: "previews_held", .previewQueueAge: "previews_held_oldest_seconds",
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
            .databaseConnections: "database_connections",
        ],
        drops: [
            "updates_dropped_total": nil, "results_dropped_total": nil, "over_limit_total": "limit",
        ])

    private static let fanout = FigureTable(
        "touchsync_fanout_",
        [
            .previewsIn: "previews_received_total", .previewsOut: "previews_passed_total",
            .updatesIn: "updates_received_total", .replays: "replays_total", .snapshots: "snapshots_total",
            .resyncs: "resyncs_total", .rooms: "rooms", .joinsWaiting: "joins_waiting", .outboxBytes: "outbox_bytes",
            .peersBlocked: "gateways_blocked", .databaseConnections: "database_connections",
            .shardLag: "shard_lag_updates", .rulesDiffering: "rules_differing_committers",
        ],
        drops: [
            "previews_dropped_total": "reason", "gateway_overflows_total": nil,
        ])

    /// What every daemon has.
    private static let common: [PipelineFigure: String] = [
        .reconnects: "touchsync_link_reconnects_total", .linksUp: "touchsync_links_up",
        .rulesRefused: "touchsync_file_refused{file=rules}",
        .cpu: "process_cpu_seconds_total", .memoryBytes: "process_resident_memory_bytes",
        .openDescriptors: "process_open_fds", .maxDescriptors: "process_max_fds",
    ]

    /// - Parameters:
    ///   - figures: the metric of each figure without its prefix, with `{label=value}` if only such samples count.
    ///   - drops: metrics without their prefix, and the label of the reason.
    private init(_ prefix: String, _ figures: [PipelineFigure: String], drops: [String: String?]) {
        var rows: [String: [Row]] = [:]
        for (figure, metric) in figures.mapValues({ prefix + $0 }).merging(
            Self.common, uniquingKeysWith: { own, _ in own })
        {
            let parts = metric.split(separator: "{", maxSplits: 1).map(String.init)
            let label = parts.dropFirst().first?.dropLast().split(separator: "=", maxSplits: 1).map(String.init)
            rows[parts[0], default: []].append(Row(figure: figure, label: label.map { ($0[0], $0[1]) }))
        }
        self.rows = rows
        let links = ["link_refusals_total": "reason", "records_refused_total": nil]
        self.drops = Dictionary(
            uniqueKeysWithValues: (drops.map { (prefix, $0) } + links.map { ("touchsync_", $0) }).map { prefix, drop in
                (prefix + drop.key, (String(drop.key.dropLast("_total".count)), drop.value))
            })
    }
}
