import Boot
import Canvas
import CoalescerDaemon
import Logging
import Mesh
import PipelineTestKit
import ServiceLifecycle
import Stages
import Testing
import Wire

/// A whole coalescer between neighbours, over real links.
@Suite(.timeLimit(.minutes(1))) struct DaemonTests {
    @Test func itIsReadyWhenBothStagesBehindAre() async throws {
        try await Stand.run { stand in
            let own = ["committers", "fanouts"]
            try await eventually("ready") {
                !stand.context.health.current.reasons.contains { own.contains($0.check) }
            }
            #expect(stand.context.metrics.text().contains("touchsync_coalescer_links_up{stage=\"committer\"} 1"))
        }
    }

    @Test func previewsAndCommitsFindTheirWay() async throws {
        try await Stand.run { stand in
            stand.neighbours.send(preview(x: 1))
            try await eventually("first preview") { stand.neighbours.sights.count == 1 }
            #expect(stand.neighbours.sights == [.preview(preview(x: 1), at: "fanout-1")])
            stand.neighbours.send(commit(gesture: 1))
            try await eventually("commit") { stand.neighbours.sights.count == 2 }
            #expect(stand.neighbours.sights.last == .commit(commit(gesture: 1), at: "committer-1"))
            // Late for its commit; the next gesture is not.
            stand.neighbours.send(preview(gesture: 1, x: 2), preview(gesture: 2, x: 3))
            try await eventually("next gesture") { stand.neighbours.sights.count == 3 }
            guard case .preview(let last, _) = stand.neighbours.sights.last else {
                Issue.record("no preview")
                return
            }
            #expect(last.gesture == 2)
            #expect(last.fields == TransformFields(positionX: 3))
        }
    }

    @Test func aBurstIsFoldedAndItsLastValueComes() async throws {
        try await Stand.run { stand in
            for step in 1...50 { stand.neighbours.send(preview(x: Double(step))) }
            try await eventually("last value") {
                guard case .preview(let last, _) = stand.neighbours.sights.last else { return false }
                return last.fields.positionX == 50
            }
            let folded = stand.neighbours.sights.map { sight -> UInt32 in
                if case .preview(let preview, _) = sight { preview.folded } else { 0 }
            }
            #expect(folded.reduce(0, +) == 50)
            #expect(folded.count < 50)
        }
    }

    @Test func unreadableEnvelopesHurtNobody() async throws {
        try await Stand.run { stand in
            var envelope = EnvelopeWriter()
            envelope.append(preview(x: 1))
            for bytes in [[], [1, 2, 3], Array(envelope.bytes.dropLast()), [0x54, 0x53, 9, 0, 0, 0, 0, 0]] as [[UInt8]]
            {
                stand.neighbours.send(bytes: bytes, isPreview: true)
                stand.neighbours.send(bytes: bytes, isPreview: false)
            }
            // On the wrong lane: left alone.
            stand.neighbours.send(bytes: envelope.bytes, isPreview: false)
            stand.neighbours.send(preview("good", x: 2))
            try await eventually("good preview") { stand.neighbours.sights.count == 1 }
            try await eventually("all refused") {
                stand.context.metrics.text().contains("touchsync_coalescer_envelopes_malformed_total 8")
            }
            #expect(stand.neighbours.sights == [.preview(preview("good", x: 2), at: "fanout-1")])
        }
    }

    @Test func commitsWaitForCreditAndKeepTheirOrder() async throws {
        let greeting = CommitCredit(commits: 2, bytes: 1 << 20).greeting
        try await Stand.run(credit: 4, greeting: greeting) { stand in
            for gesture in 1...4 { stand.neighbours.send(commit(gesture: UInt64(gesture))) }
            try await eventually("the committer's window is used up") {
                stand.neighbours.sights.count == 2
                    && stand.context.metrics.text().contains("touchsync_coalescer_commits_waiting 2\n")
                    && stand.context.metrics.text().contains("touchsync_coalescer_commit_lanes_closed 1\n")
            }
            // Two have left, which is half of the gateway's window.
            try await eventually("the gateway's credit") { stand.neighbours.credits.map(\.commits) == [6] }
            stand.neighbours.allow(CommitCredit(commits: 4, bytes: 2 << 20))
            try await eventually("the rest") { stand.neighbours.sights.count == 4 }
            try await eventually("more credit") { stand.neighbours.credits.map(\.commits) == [6, 8] }
            let gestures = stand.neighbours.sights.map { sight -> UInt64 in
                if case .commit(let commit, _) = sight { commit.gestures[0].gesture } else { 0 }
            }
            #expect(gestures == [1, 2, 3, 4])
        }
    }

    @Test func roomsKeepToTheirOwners() async throws {
        try await Stand.run(instances: 2) { stand in
            let rooms = (0..<40).map { Identifier("room-\($0)") }
            for room in rooms {
                stand.neighbours.send(preview(room: room, x: 1))
                stand.neighbours.send(commit(room: room, gesture: 0))
            }
            try await eventually("all arrived") { stand.neighbours.sights.count == 80 }
            let fanouts = Rendezvous(names: ["fanout-1", "fanout-2"])
            let committers = Rendezvous(names: ["committer-1", "committer-2"])
            var used: Set<String> = []
            for sight in stand.neighbours.sights {
                switch sight {
                case .preview(let preview, let name):
                    #expect(name == fanouts.owner(of: Shard.of(room: preview.room)))
                    used.insert(name)
                case .commit(let commit, let name):
                    #expect(name == committers.owner(of: Shard.of(room: commit.room)))
                    used.insert(name)
                }
            }
            #expect(used.count == 4)
        }
    }

    @Test func whatIsHeldLeavesBeforeTheEnd() async throws {
        // A tick of a second: without the flush the held preview would come far too late.
        try await Stand.run(tick: .seconds(1)) { stand in
            stand.neighbours.send(preview("a", x: 1), preview("b", x: 2))
            try await eventually("the first") { stand.neighbours.sights.count == 1 }
            await stand.group.triggerGracefulShutdown()
            try await eventually("the held one") { stand.neighbours.sights.count == 2 }
        }
    }
}

/// A coalescer and its neighbours on sockets in a directory of their own.
private struct Stand: Sendable {
    let context: DaemonContext
    let neighbours: Neighbours
    let group: ServiceGroup

    static func run(
        instances: Int = 1, tick: Duration = .milliseconds(16), credit: Int = 4096, greeting: [UInt8] = [],
        _ body: @Sendable @escaping (Stand) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        func addresses(_ stage: String) -> [PeerAddress] {
            (1...instances).map { PeerAddress(name: "\(stage)-\($0)", endpoint: "ipc://\(folder.path)/\(stage)-\($0)") }
        }
        var values = SettingValues(defaultsOf: CoalescerSettings.schema)
        values.set(SharedSettings.bind, "ipc://\(folder.path)/coalescer")
        values.set(SharedSettings.committers, .list(addresses("committer")))
        values.set(SharedSettings.fanouts, .list(addresses("fanout")))
        values.set(CoalescerSettings.tick, tick)
        values.set(SharedSettings.creditCommits, credit)
        let settings = try CoalescerSettings(values)
        let context = DaemonContext.quiet(name: "coalescer-1")
        let group = ServiceGroup(
            services: try CoalescerService.services(settings, context), logger: context.logger)
        let neighbours = try Neighbours(
            coalescer: settings.bind, committers: settings.committers.addresses, fanouts: settings.fanouts.addresses,
            greeting: greeting)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let up = "touchsync_coalescer_links_up{stage=\"fanout\"} \(instances)"
            try await eventually("links") {
                let text = context.metrics.text()
                return neighbours.isConnected && text.contains(up)
                    && text.contains("touchsync_coalescer_links_up{stage=\"committer\"} \(instances)")
            }
            try await body(Stand(context: context, neighbours: neighbours, group: group))
            await group.triggerGracefulShutdown()
            try await tasks.next()
        }
        try await neighbours.stop()
    }
}
