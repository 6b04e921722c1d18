internal import Stages

/// A histogram of a daemon. Raw values are the names in JSON.
package enum Distribution: String, CaseIterable, Hashable, Sendable {
    /// Seconds from a gateway's acceptance of a commit to its result.
    case commitLatency
    /// Seconds from a gateway's receipt of a preview to its delivery to others.
    case previewAge
    /// Seconds that previews wait in a coalescer.
    case previewWait
    /// Seconds that PostgreSQL takes for a batch, and commits in one.
    case batchDuration, batchCommits

    /// The metric, by the stage that has it.
    var metric: (stage: Stage, name: String) {
        switch self {
        case .commitLatency: (.gateway, "touchsync_gateway_commit_latency_seconds")
        case .previewAge: (.gateway, "touchsync_gateway_preview_age_seconds")
        case .previewWait: (.coalescer, "touchsync_coalescer_preview_wait_seconds")
        case .batchDuration: (.committer, "touchsync_committer_write_seconds")
        case .batchCommits: (.committer, "touchsync_committer_batch_commits")
        }
    }
}
