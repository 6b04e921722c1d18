internal import ArgumentParser
internal import Boot
internal import Glibc
internal import JSONBytes

struct RobotsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "robots", abstract: "Moves elements in a room as people do, through the client for apps.",
        discussion: "For demonstrations, and for servers under a natural load. Ctrl-C stops them.")

    @OptionGroup var server: ServerOptions
    @Option(help: "The room's id.")
    var room: RoomName
    @Option(help: "How many robots, 1 to 500.")
    var count = 5
    @Option(help: "They add notes until the room has so many elements; by default two for each robot.")
    var notes: Int?
    @Option(help: "A token that lets all of them commit, for servers that require one (or TOUCHSYNC_TOKEN).")
    var token: String?
    @Option(help: "Seconds until they stop; by default they go on.")
    var duration: Double?
    @Option(help: "The seed of their decisions.")
    var seed: UInt64 = 1
    @Flag(help: "Print lines of JSON.")
    var json = false

    /// Milliseconds between two lines of the report.
    private static let reportPause: Int32 = 5000
    /// Seconds that robots have to say goodbye.
    private static let patience = 6

    func validate() throws {
        guard (1...500).contains(self.count) else {
            throw ValidationError("--count must be 1 to 500, not \(self.count)")
        }
        if let notes, notes < 0 { throw ValidationError("--notes must be 0 or more, not \(notes)") }
        if let duration, !(duration > 0) { throw ValidationError("--duration must be above 0, not \(duration)") }
    }

    func run() throws {
        try TouchSyncCommand.running {
            let stops = try StopRequests.signals()
            let url = try self.server.address()
            let crew = try RobotCrew(
                RobotOptions(
                    url: url, room: self.room.id, count: self.count, notes: self.notes ?? 2 * self.count,
                    token: self.token ?? ProcessSetup.environment()[TouchSyncCommand.tokenVariable], seed: self.seed))
            self.watch(crew, until: stops)
            crew.stop()
            for _ in 0..<Self.patience * 20 where crew.working > 0 { usleep(50_000) }
            self.report(crew)
            if crew.counts.joined == 0, crew.failure == nil {
                throw OperatorFailure("no robot came into the room: \(url) did not answer")
            }
            if let failure = crew.failure { throw OperatorFailure("a robot could not work: \(failure)") }
            return 0
        }
    }

    /// Reports until they are to stop, or one of them cannot work.
    private func watch(_ crew: RobotCrew, until stops: StopRequests) {
        let clock = ContinuousClock()
        let start = clock.now
        var rest = self.duration.map { Duration.seconds($0) }
        while crew.failure == nil {
            let pause =
                rest.map { min(Int32(clamping: Int64($0 / .milliseconds(1))), Self.reportPause) } ?? Self.reportPause
            if stops.isRequested(within: max(0, pause)) { return }
            rest = self.duration.map { Duration.seconds($0) - (clock.now - start) }
            if let rest, rest <= .zero { return }
            self.report(crew)
        }
    }

    private func report(_ crew: RobotCrew) {
        let counts = crew.counts
        guard self.json else {
            let refusal = counts.lastRefusal.map { ", the last one with \($0)" } ?? ""
            return ProcessSetup.print(
                "\(crew.working) robots in \(self.room.id): \(counts.made) edits, \(counts.applied) applied, "
                    + "\(counts.refused) refused\(refusal)\n")
        }
        let line = JSONWriter.line { writer in
            writer.member("room", self.room.id)
            writer.member("working", crew.working)
            writer.member("edits", counts.made)
            writer.member("applied", counts.applied)
            writer.member("refused", counts.refused)
            writer.member("lastRefusal", ifPresent: counts.lastRefusal)
        }
        ProcessSetup.print(line)
    }
}
