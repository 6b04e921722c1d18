import Canvas
import CoalescerCore
import CoalescerDaemon
import CommitterCore
import CommitterDaemon
import FanoutCore
import FanoutDaemon
import Stages
import Wire

typealias FanoutNode = StageNode<FanoutStage, WorldQuestions>

// The daemons behind the gateways.

extension World {
    func coalescer(_ process: Process) -> any Shell {
        StageNode(
            CoalescerStage(outboxes: self.outboxLimits(.previews)), process, to: .fanout, NoWorldDatabase(),
            WireMistakes(nil), in: self
        ) { stage in
            let counters = stage.coalescer.counters
            return ["previews.replaced": Int(counters.replaced), "previews.cancelled": Int(counters.cancelled)]
        }
    }

    func committer(_ process: Process) -> any Shell {
        var limits = CommitterLimits()
        limits.batchCommits = self.random.chance(50) ? 256 : 3
        limits.cacheBytesPerShard = self.random.chance(50) ? 2 << 20 : 2000
        // In some worlds commits come faster than there is space for.
        if self.plan.seed % 8 == 2 { limits.queueCommits = 6 }
        limits.roomElements = self.plan.roomElements
        limits.elementAnnotations = self.plan.elementAnnotations
        process.greeting = self.window().greeting
        let mistakes = WireMistakes(self.plan.mutant)
        let lanes = WorldLanes(of: process, mistakes, in: self)
        let stage = CommitterStage(
            lanes: WorldLanes.count, rules: .defaults, limits: limits, credit: self.window(),
            results: self.outboxLimits(.results), updates: self.outboxLimits(.updates))
        return StageNode(stage, process, to: .fanout, lanes, mistakes, in: self) { stage in
            let counters = stage.committer.counters
            let tally = counters.tally
            return [
                "committer.found-written": tally.foundWritten, "committer.found-lost": tally.foundLost,
                "committer.duplicates": tally.duplicates, "committer.stale": counters.stale,
                "committer.lost": counters.lost, "committer.over-room-elements": tally.overRoomElements,
                "committer.over-annotations": tally.overAnnotations, "committer.gaps": tally.gaps,
                "committer.expired-sessions": tally.expired,
                "outboxes.dropped-envelopes": stage.results.outboxes.droppedEnvelopes
                    + stage.updates.outboxes.droppedEnvelopes,
            ]
        }
    }

    func fanout(_ process: Process) -> any Shell {
        var limits = FanoutLimits()
        if self.random.chance(30) {
            limits.replay = 5
            limits.ringBytes = 1500
        }
        let mistakes = WireMistakes(self.plan.mutant)
        let questions = WorldQuestions(of: process, mistakes, in: self)
        let stage = FanoutStage(limits: limits, outboxBytes: self.plan.fullLinks > 0 ? 1500 : 1 << 20)
        return StageNode(stage, process, questions, mistakes, in: self) { stage in
            let counters = stage.fanout.counters
            return [
                "fanout.gaps": counters.gaps, "fanout.replays": counters.replays, "fanout.rebases": counters.rebases,
                "fanout.strays": counters.strays, "fanout.replacements": counters.replacements,
                "fanout.duplicates": counters.duplicates, "fanout.parked": counters.previewsParked,
                "fanout.previews-fenced": counters.previewsDropped.values.reduce(0, +),
                "outboxes.overflown": stage.overflows,
            ]
        }
    }
}
