import OperatorTerminal
import OperatorViews
import Overview
import Testing
import Timing

@Suite struct TopScreenTests {
    private static let figures: [(stage: PipelineStage, text: String)] = [
        (
            .gateway,
            """
            process_resident_memory_bytes 47185920
            touchsync_gateway_connections 20
            touchsync_gateway_commits_in_custody 3
            touchsync_gateway_custody_oldest_seconds 0.012
            """
        ),
        (
            .coalescer,
            """
            process_resident_memory_bytes 20971520
            touchsync_coalescer_commits_waiting 0
            """
        ),
        (
            .committer,
            """
            process_resident_memory_bytes 31457280
            touchsync_committer_queue_commits 12
            touchsync_committer_queue_oldest_seconds 3.24
            touchsync_committer_database_connections 2
            """
        ),
        (
            .fanout,
            """
            process_resident_memory_bytes 1288490189
            touchsync_fanout_rooms 4
            """
        ),
    ]

    private static func daemon(_ stage: PipelineStage, _ port: Int) -> ListedDaemon {
        ListedDaemon(stage: stage, name: "\(stage.rawValue)-1", pid: port, admin: AdminAddress(host: "h", port: port))
    }

    /// One round of four daemons, in which the committer waits for its database.
    private static func overview(fanout: ProbeOutcome? = nil) throws -> PipelineOverview {
        var history = PipelineHistory()
        let outcomes = try Self.figures.enumerated().map { index, figures in
            let samples = try ExpositionParser().samples(Array((figures.text + "\n").utf8))
            let sample = DaemonSample(stage: figures.stage, health: DaemonHealth(), samples: samples)
            let answer = figures.stage == .fanout ? fanout ?? .answered(sample) : .answered(sample)
            return (daemon: Self.daemon(figures.stage, index + 1), outcome: answer)
        }
        for second in [1, 5] {
            let moment = GatherMoment(
                now: Instant(nanoseconds: UInt64(second) * 1_000_000_000), unixMilliseconds: UInt64(second) * 1000)
            history.gathered(outcomes, at: moment)
        }
        return history.overview
    }

    private static func screen(
        _ model: TopModel = TopModel(), fanout: ProbeOutcome? = nil, rooms: LiveRoomList? = nil, columns: Int = 80,
        rows: Int = 12
    ) throws -> [String] {
        var model = model
        return TopScreen(try Self.overview(fanout: fanout), rooms: rooms, style: .plain)
            .lines(&model, size: TerminalSize(columns: columns, rows: rows))
    }

    private static func model(_ keys: String) -> TopModel {
        var model = TopModel()
        for key in keys { _ = model.pressed(.character(key)) }
        return model
    }

    @Test func allInstancesAtEightyColumns() throws {
        #expect(
            try Self.screen() == [
                "4 of 4 ready        apps 20  rooms 4  previews -/s  commits -/s",
                "! committer-1: Slow database. 12 commits wait for PostgreSQL, the oldest…    4 s",
                "",
                "NAME              STATE         CPU   MEMORY PREV IN PREV OUT COMMITS  QUEUE AGE".replacingAge(),
                "gateway-1         ready           -   45 MiB       -        -       -      3 …",
                "", "", "", "", "", "",
                "a all  g gateways  c coalescers  m committers  f fan-outs  r rooms  s sort  q qu",
            ])
    }
}

extension String {
    fileprivate func replacingAge() -> String { self }
}
