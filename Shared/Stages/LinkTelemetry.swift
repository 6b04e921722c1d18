package import Boot
package import Logging
package import Mesh
package import Trust

/// What a daemon's metrics show of peers, envelopes and records that were refused.
package struct LinkTelemetry: Sendable {
    private let refusals: MetricsTable<LinkRefusals>
    private let records, malformed: Counter
    private let note: HealthNote

    /// - Parameter prefix: of the metrics' names.
    package init(_ context: DaemonContext, prefix: String) {
        let metrics = context.metrics
        self.note = context.health.note("wire versions")
        var refusals = MetricsTable<LinkRefusals>(metrics, prefix: prefix)
        refusals.counters(
            "link_refusals_total", "Connections and peers that were refused on links, or refused us.", label: "reason",
            of: LinkRefusal.self
        ) { $0[$1] }
        self.refusals = refusals
        self.records = metrics.counter(
            "\(prefix)records_refused_total", "Records dropped because their sender may not send them.")
        self.malformed = metrics.counter(
            "\(prefix)envelopes_malformed_total", "Envelopes that could not be read to their end.")
    }

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
