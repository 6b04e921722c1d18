import OperatorTerminal
import Stages
import Testing
import Timing

@testable import OperatorMonitor

@Suite struct TopScreenTests {
    private static let figures: [(stage: Stage, text: String)] = [
        (
            .gateway,
            """
            process_resident_memory_bytes 47185920
            touchsync_gateway_connections 20
            touchsync_gateway_commits_in_flight 3
            touchsync_gateway_commits_in_flight_oldest_seconds 0.012
            """
        ),
        (
            .coalescer,
            """
            process_resident_memory_bytes 20971520
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

    private static func daemon(_ stage: Stage, _ port: Int) -> ListedDaemon {
        ListedDaemon(stage: stage, name: "\(stage.rawValue)-1", pid: port, admin: AdminAddress(host: "h", port: port))
    }

    /// One round of four daemons, in which the committer waits for its database.
    private static func overview(fanout: ProbeOutcome? = nil) throws -> PipelineHistory {
        var history = PipelineHistory()
        let outcomes = try Self.figures.enumerated().map { index, figures in
            let samples = try Exposition.samples(Array((figures.text + "\n").utf8))
            let sample = DaemonSample(stage: figures.stage, health: DaemonHealth(), samples: samples)
            let answer = figures.stage == .fanout ? fanout ?? .answered(sample) : .answered(sample)
            return (daemon: Self.daemon(figures.stage, index + 1), outcome: answer)
        }
        for second in [1, 5] {
            let moment = ScrapeRound(
                now: Instant(nanoseconds: UInt64(second) * 1_000_000_000), unixMilliseconds: UInt64(second) * 1000)
            history.scraped(outcomes, at: moment)
        }
        return history
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

    private static let head = [
        "4 of 4 ready        apps 20  rooms 4  previews -/s  commits -/s",
        "! committer-1: Slow database. 12 commits wait for PostgreSQL, the olde…      4 s",
        "",
    ]
    private static let keys = "a all  g gateway  c coalescer  m committer  f fan-out  r rooms  q quit  s sort"

    @Test func allInstancesAtEightyColumns() throws {
        #expect(
            try Self.screen() == Self.head + [
                "NAME          STATE         CPU   MEMORY PREV IN PREV OUT COMMITS  QUEUE     AGE",
                "gateway-1     ready           -   45 MiB       -        -       -      3   12 ms",
                "coalescer-1   ready           -   20 MiB       -        -       -      -       -",
                "committer-1   ready           -   30 MiB       -        -       -     12   3.2 s",
                "fanout-1      ready           -  1.2 GiB       -        -       -      -       -",
                "", "", "", Self.keys,
            ])
    }

    @Test func oneStageHasColumnsOfItsOwn() throws {
        #expect(
            try Self.screen(Self.model("f"), rows: 8) == Self.head + [
                "NAME              STATE         CPU   MEMORY  ROOMS PREV OUT UPDATES JOINS   LAG",
                "fanout-1          ready           -  1.2 GiB      4        -       -     -     -",
                "", "", Self.keys,
            ])
    }

    @Test func theChosenColumnSorts() throws {
        let lines = try Self.screen(Self.model("ss"))
        #expect(lines[3].contains("MEMORY▾"))
        #expect(lines[4...7].map { $0.prefix(9) } == ["fanout-1 ", "gateway-1", "committer", "coalescer"])
    }

    @Test func aDaemonThatIsDownIsNamed() throws {
        let lines = try Self.screen(fanout: .notRunning)
        #expect(lines[0].hasPrefix("3 of 4 ready") && lines.contains { $0.hasPrefix("fanout-1      down ") })
        #expect(lines[1].hasPrefix("! ") && lines[2].hasPrefix("! "))
    }

    @Test func roomsOfTheFanouts() throws {
        #expect(try Self.screen(Self.model("r"))[3] == "asking the fan-outs …")
        let nobody = LiveRoomList([], by: .activity, silent: [.init(fanout: "fanout-1", reason: "gives no answer")])
        let lines = try Self.screen(Self.model("rs"), rooms: nobody, columns: 100)
        #expect(lines[3].hasPrefix("ROOM  MEMBERS▾  UPDATES/S"))
        #expect(lines[4...5] == ["! fanout-1 gives no answer", "nobody is in any room"])
    }

    @Test(arguments: [(80, 24), (40, 8), (10, 3), (1, 1), (200, 60)])
    func nothingLeavesTheTerminal(_ columns: Int, _ rows: Int) throws {
        for keys in ["", "g", "c", "m", "f", "r"] {
            let lines = try Self.screen(Self.model(keys), columns: columns, rows: rows)
            #expect(lines.count == (columns < 40 ? 1 : rows))
            #expect(lines.allSatisfy { TerminalText.width(of: $0) <= columns }, "\(lines)")
        }
    }

    @Test func withoutATerminalEverythingIsPrinted() throws {
        let text = TopScreen(try Self.overview(), style: .plain).text(columns: 120)
        #expect(text.contains("the oldest for 3.2 s.") && text.hasSuffix("-\n") && !text.contains("quit"))
        let coloured = TopScreen(
            try Self.overview(), style: TerminalStyle(isTerminal: true, environment: ["TERM": "xterm"])
        ).text()
        #expect(coloured.contains("\u{1B}[32mready      \u{1B}[0m") && coloured.contains("\u{1B}[1;31m! committer-1"))
    }
}

@Suite struct TopModelTests {
    private var model = TopModel()

    @Test mutating func keysChooseTheView() {
        let views: [(Character, TopModel.View)] = [
            ("g", .instances(.gateway)), ("2", .instances(.coalescer)), ("m", .instances(.committer)),
            ("4", .instances(.fanout)), ("r", .rooms), ("a", .instances(nil)),
        ]
        for (key, view) in views {
            #expect(self.model.pressed(.character(key)) == .redraw)
            #expect(self.model.view == view)
        }
        #expect(self.model.pressed(.character("a")) == .none && self.model.pressed(.character("x")) == .none)
    }

    @Test mutating func quittingAndRepainting() {
        #expect(self.model.pressed(.character("q")) == .quit && self.model.pressed(.interrupt) == .quit)
        #expect(self.model.pressed(.redraw) == .repaint)
    }

    @Test mutating func roomsHaveOrders() {
        _ = self.model.pressed(.character("r"))
        let orders = RoomSort.allCases.map { _ in
            _ = self.model.pressed(.character("s"))
            return self.model.roomSort
        }
        #expect(orders == [.members, .seq, .bytes, .activity])
        #expect(self.model.pressed(.escape) == .redraw && self.model.view == .instances(nil))
    }

    @Test mutating func scrollingEndsWithTheTable() {
        #expect(self.model.pressed(.up) == .none)
        for _ in 0..<9 { _ = self.model.pressed(.down) }
        var other = self.model
        self.model.fit(lines: 6, visible: 4)
        for _ in 0..<7 { _ = other.pressed(.up) }
        other.fit(lines: 6, visible: 4)
        #expect(self.model == other)
    }
}
