/// Judges histories of the pipeline, from the simulation and from real processes alike.
///
/// It knows nothing of how the pipeline works: only what apps saw and what the database holds at the end. Its time is
/// O(n log n) in the records.
package enum HistoryChecker {
    /// Checks every invariant.
    package static func check(_ history: [HistoryRecord]) -> Verdict {
        let index = HistoryIndex(history)
        var verdict = Verdict()
        verdict.findings[.durable] = index.durable()
        verdict.findings[.noPhantom] = index.noPhantom()
        verdict.findings[.gapless] = index.gapless()
        verdict.findings[.sessionOrder] = index.sessionOrder()
        verdict.findings[.realTime] = index.realTime()
        verdict.findings[.liveness] = index.liveness()
        verdict.findings[.answers] = index.answers()
        verdict.findings[.groups] = index.groups()
        verdict.findings[.legacy] = index.legacyApps()
        let unknowns = index.unknowns()
        verdict.findings[.unknowns] = unknowns
        var replay = ViewReplay(index)
        replay.run()
        let folded = index.folded(snapshots: replay.snapshots)
        replay.prefix.checked += folded.snapshots.checked
        replay.prefix.violations += folded.snapshots.violations
        verdict.findings[.fold] = folded.state
        verdict.findings[.prefix] = replay.prefix
        verdict.findings[.convergence] = replay.convergence
        verdict.findings[.previews] = replay.previews
        verdict.findings[.isolation] = replay.isolation
        verdict.findings[.people] = index.people()
        verdict.findings[.edits] = index.edits()
        var screens = ScreenReplay(index)
        screens.run()
        verdict.findings[.screens] = screens.end
        verdict.findings[.steadiness] = screens.steadiness
        verdict.findings[.confirmation] = screens.confirmation
        verdict.counts = Self.counts(history)
        var poses = PoseReplay(index, screens.states)
        poses.run()
        verdict.findings[.poses] = poses.finding
        verdict.counts.merge(poses.counts) { $1 }
        let silences = index.silences()
        verdict.findings[.silence] = silences.finding
        verdict.counts["motions-in-silence"] = silences.moving
        var viewports = ViewportReplay(index)
        viewports.run()
        verdict.findings[.viewports] = viewports.finding
        verdict.counts.merge(viewports.counts) { $1 }
        verdict.counts["unknowns"] = Int64(unknowns.checked)
        verdict.findings[.undo] = index.undos()
        verdict.counts.merge(index.undoCounts) { $1 }
        verdict.counts["refused-groups"] = index.refusedGroups
        return verdict
    }

    private static func counts(_ history: [HistoryRecord]) -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for record in history {
            switch record.kind {
            case .ok: counts["acks", default: 0] += 1
            case .refused: counts[record.isFinal ? "refusals" : "retries", default: 0] += 1
            case .lost: counts["lost", default: 0] += 1
            case .snapshot: counts["snapshots", default: 0] += 1
            case .resumed: counts["resumes", default: 0] += 1
            case .resync: counts["resyncs", default: 0] += 1
            case .deliver: counts["deliveries", default: 0] += 1
            case .legacy: counts[record.parts > 1 ? "legacy-parts" : "legacy-events", default: 0] += 1
            case .preview: counts["previews", default: 0] += 1
            case .answer: counts["answers", default: 0] += 1
            case .people: counts["people", default: 0] += 1
            case .result: counts[record.code.isEmpty ? "edits-applied" : "edits-refused", default: 0] += 1
            case .log:
                if record.states.count > 1 { counts["groups", default: 0] += 1 }
                if record.isCascade { counts["cascades", default: 0] += 1 }
            case .count: counts[record.name, default: 0] += record.value
            default: break
            }
        }
        return counts
    }
}
