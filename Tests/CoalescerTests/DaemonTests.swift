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
    @Test func itIsReadyWhenAFanoutIsUp() async throws {
        try await Stand.run { stand in
            try await eventually("ready") {
                !stand.context.health.current.reasons.contains { $0.check == "fanouts" }
            }
            #expect(stand.context.metrics.text().contains("touchsync_links_up{peer_stage=\"fanout\"} 1"))
        }
    }

    @Test func theEndOfAGestureCancelsWhatIsHeldOfIt() async throws {
        // A tick of a second: what is held stays until the end has come.
        try await Stand.run(tick: .seconds(1)) { stand in
            // Two leave at once, as the key has credit.
            stand.neighbours.send(preview(x: 1), preview(x: 2), preview(x: 3))
            try await eventually("first previews") { stand.neighbours.sights.count == 2 }
            stand.neighbours.send(end())
            stand.neighbours.send(preview(gesture: 2, x: 4))
            try await eventually("next gesture") { stand.neighbours.sights.count == 3 }
            #expect(stand.neighbours.sights.last?.preview.gesture == 2)
            #expect(stand.neighbours.sights.last?.preview.fields == TransformFields(positionX: 4))
        }
    }

    @Test func aBurstIsFoldedAndItsLastValueComes() async throws {
        try await Stand.run { stand in
            for step in 1...50 { stand.neighbours.send(preview(x: Double(step))) }
            try await eventually("last value") {
                stand.neighbours.sights.last?.preview.fields.positionX == 50
            }
            let folded = stand.neighbours.sights.map(\.preview.folded)
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
                stand.neighbours.send(bytes: bytes)
            }
            stand.neighbours.send(preview("good", x: 2))
            try await eventually("good preview") { stand.neighbours.sights.count == 1 }
            try await eventually("all refused") {
                stand.context.metrics.text().contains("touchsync_envelopes_malformed_total 4")
            }
            #expect(stand.neighbours.sights == [Sight(preview: preview("good", x: 2), fanout: "fanout-1")])
        }
    }

    @Test func roomsKeepToTheirOwners() async throws {
        try await Stand.run(instances: 2) { stand in
            let rooms = (0..<40).map { Identifier("room-\($0)") }
            for room in rooms { stand.neighbours.send(preview(room: room, x: 1)) }
            try await eventually("all arrived") { stand.neighbours.sights.count == 40 }
            let fanouts = Rendezvous(names: ["fanout-1", "fanout-2"])
            for sight in stand.neighbours.sights {
                #expect(sight.fanout == fanouts.owner(of: Shard.of(room: sight.preview.room)))
            }
            #expect(Set(stand.neighbours.sights.map(\.fanout)).count == 2)
        }
    }

    @Test func whatIsHeldLeavesBeforeTheEnd() async throws {
        // A tick of a second: without the flush the held preview would come far too late.
        try await Stand.run(tick: .seconds(1)) { stand in
            stand.neighbours.send(preview(x: 1), preview(x: 2), preview(x: 3))
            try await eventually("the first") { stand.neighbours.sights.count == 2 }
            await stand.group.triggerGracefulShutdown()
            try await eventually("the held one") { stand.neighbours.sights.count == 3 }
        }
    }
}

/// A coalescer and its neighbours on sockets in a directory of their own.
private struct Stand: Sendable {
    let context: DaemonContext
    let neighbours: Neighbours
    let group: ServiceGroup

    static func run(
        instances: Int = 1, tick: Duration = .milliseconds(16), _ body: @Sendable @escaping (Stand) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        func addresses(_ stage: String) -> [PeerAddress] {
            (1...instances).map { PeerAddress(name: "\(stage)-\($0)", endpoint: "ipc://\(folder.path)/\(stage)-\($0)") }
        }
        var values = SettingValues(defaultsOf: CoalescerSettings.schema)
        values.set(SharedSettings.bind, "ipc://\(folder.path)/coalescer")
        values.set(SharedSettings.fanouts, .list(addresses("fanout")))
        values.set(CoalescerSettings.tick, tick)
        let settings = try CoalescerSettings(values)
        let context = DaemonContext.quiet(name: "coalescer-1")
        let group = ServiceGroup(
            services: try CoalescerService.services(settings, context), logger: context.logger)
        let neighbours = try Neighbours(
            coalescer: settings.bind, fanouts: settings.fanouts.addresses)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let up = "touchsync_links_up{peer_stage=\"fanout\"} \(instances)"
            try await eventually("links") {
                neighbours.isConnected && context.metrics.text().contains(up)
            }
            try await body(Stand(context: context, neighbours: neighbours, group: group))
            await group.triggerGracefulShutdown()
            try await tasks.next()
        }
        try await neighbours.stop()
    }
}
