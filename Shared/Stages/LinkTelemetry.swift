package import Boot
package import Logging
package import Mesh
package import Trust

/// What a daemon's metrics show of its links: which are up, and which peers, envelopes and records were refused.
package struct LinkTelemetry: Sendable {
    private let refusals: MetricsTable<LinkRefusals>
    private let records, malformed, reconnects: Counter
    private let up: [Stage: Gauge]
    private let note: HealthNote

    /// - Parameter peers: the stages whose connected instances are counted.
    package init(_ context: DaemonContext, peers: [Stage]) {
        let metrics = context.metrics
        self.up = Dictionary(
            uniqueKeysWithValues: peers.map { stage in
                let up = metrics.gauge(
                    "touchsync_links_up", "Instances that are connected.", labels: ["peer_stage": "\(stage)"])
                return (stage, up)
            })
        self.reconnects = metrics.counter("touchsync_link_reconnects_total", "Links that were opened again.")
        self.note = context.health.note("wire versions")
        var refusals = MetricsTable<LinkRefusals>(metrics, prefix: "touchsync_")
        refusals.counters(
            "link_refusals_total", "Connections and peers that were refused on links, or refused us.", label: "reason",
            of: LinkRefusal.self
        ) { $0[$1] }
        self.refusals = refusals
        self.records = metrics.counter(
            "touchsync_records_refused_total", "Records dropped because their sender may not send them.")
        self.malformed = metrics.counter(
            "touchsync_envelopes_malformed_total", "Envelopes that could not be read to their end.")
    }

    /// So many instances of a stage are connected.
    package func connected(_ count: Int, of stage: Stage) { self.up[stage]?.set(count) }

    /// Links were opened again so often since the start.
    package func reconnected(_ total: UInt64) { self.reconnects.follow(total) }

    /// Publishes the counts of a reactor, and who cannot be understood there.
    package func publish(_ thread: ReactorThread) {
        self.refusals.publish(thread.refusals)
        self.note.say(thread.incompatibleNote(own: LinkIdentity.versions))
    }

    /// Reads the envelopes that a role receives, and counts what it refuses.
    package func intake(at role: PeerRole, logger: Logger) -> EnvelopeIntake {
        EnvelopeIntake(
            at: role, logger: logger, onForeign: { self.records.add() }, onRefusal: { self.malformed.add() })
    }
}
