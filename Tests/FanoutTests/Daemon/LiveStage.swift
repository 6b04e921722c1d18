import Boot
import CommitterDaemon
import FanoutCore
import FanoutDaemon
import PipelineTestKit
import Postgres
import ServiceLifecycle
import Timing
import Wire

/// A whole fan-out on a real database, with a gateway and a coalescer that the test speaks for.
struct LiveStage: Sendable {
    let database: LiveDatabase
    let context: DaemonContext
    let group: ServiceGroup
    let gateway: FakePeer
    let coalescer: FakePeer
    let endpoint: String

    static func run(
        _ change: (inout SettingValues) -> Void = { _ in }, headInterval: Nanoseconds = FanoutLimits().headInterval,
        _ body: @Sendable @escaping (LiveStage) async throws -> Void
    ) async throws {
        let database = try LivePostgres.freshDatabase()
        _ = try Migrator(CommitterDaemon.migrations).migrate(database.connectionString)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var values = SettingValues(defaultsOf: FanoutSettings.schema)
        values.set(SharedSettings.bind, "ipc://\(folder.path)/fanout")
        values.set(SharedSettings.databaseURL, database.connectionString)
        change(&values)
        var settings = try FanoutSettings(values)
        settings.limits.headInterval = headInterval
        let context = DaemonContext.quiet(name: "fanout-1")
        let group = ServiceGroup(services: try FanoutService.services(settings, context), logger: context.logger)
        let gateway = try FakePeer(name: "gateway-1", to: settings.bind)
        let coalescer = try FakePeer(name: "coalescer-1", to: settings.bind)
        let stage = LiveStage(
            database: database, context: context, group: group, gateway: gateway, coalescer: coalescer,
            endpoint: settings.bind)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await eventually("links") { gateway.isConnected && coalescer.isConnected }
            try await body(stage)
            await group.triggerGracefulShutdown()
            try await tasks.next()
        }
        try await gateway.stop()
        try await coalescer.stop()
    }

    /// Writes what a committer would write, without telling anybody.
    /// - Parameters:
    ///   - chain: made up; 0 as from before there was one.
    ///   - dropped: its row of the log is gone at once.
    ///   - replaces: it takes the place of the commit that has the number now.
    func commit(
        _ room: Identifier, _ element: Identifier, x: Int, n: Int, gesture: Int = 0, chain: Int = 0,
        dropped: Bool = false, replaces: Bool = false
    ) throws {
        let connection = try self.database.connect()
        defer { connection.close() }
        let shard = Shard.of(room: room)
        let json = Self.json(element, x: x)
        let gestures = gesture == 0 ? "NULL" : #"'{"\#(element)":\#(gesture)}'"#
        try connection.executeScript(
            """
            \(replaces ? "DELETE FROM commit_log WHERE room_id = '\(room)' AND seq = \(n);" : "")
            UPDATE shards SET gseq = gseq - \(replaces ? 1 : 0) WHERE shard = \(shard);
            UPDATE shards SET version = version + 1, gseq = gseq + 1, chain = \(chain) WHERE shard = \(shard);
            INSERT INTO rooms VALUES ('\(room)', \(shard), \(n), 1, 600)
                ON CONFLICT (room_id) DO UPDATE SET seq = excluded.seq;
            INSERT INTO elements (room_id, id, seq, updated_by, data)
                VALUES ('\(room)', '\(element)', \(n), 'ann', '\(json)')
                ON CONFLICT (room_id, id) DO UPDATE SET data = excluded.data, seq = excluded.seq;
            INSERT INTO commit_log (room_id, seq, gseq, shard, event, user_id, session, n, gestures, element_id,
                    body_hash, before, after, chain)
                SELECT '\(room)', \(n), gseq, shard, 'element:transformed', 'ann', 's-ann', \(n), \(gestures),
                    '\(element)', 0, NULL, '\(json)', \(chain) FROM shards WHERE shard = \(shard);
            \(dropped ? "DELETE FROM commit_log WHERE room_id = '\(room)' AND seq = \(n);" : "")
            """)
    }

    /// Writes rows of commits that end no gesture, all at once.
    func commit(_ room: Identifier, _ element: Identifier, x: Int, from first: Int, through last: Int) throws {
        try self.commit(room, element, x: x, n: first)
        let connection = try self.database.connect()
        defer { connection.close() }
        let shard = Shard.of(room: room)
        try connection.executeScript(
            """
            INSERT INTO commit_log (room_id, seq, gseq, shard, event, user_id, session, n, element_id, body_hash, after)
                SELECT l.room_id, i, l.gseq + i - l.seq, l.shard, l.event, l.user_id, l.session, i, l.element_id, 0, l.after
                FROM commit_log AS l, generate_series(l.seq + 1, \(last)) AS i
                WHERE l.room_id = '\(room)' AND l.seq = \(first);
            UPDATE shards SET gseq = gseq + \(last - first), version = version + 1 WHERE shard = \(shard);
            UPDATE rooms SET seq = \(last) WHERE room_id = '\(room)';
            """)
    }

    /// Makes a room's rows of the log as old as if three minutes had passed.
    func ageLog(of room: Identifier) throws {
        let connection = try self.database.connect()
        defer { connection.close() }
        try connection.executeScript("UPDATE commit_log SET at = at - interval '3 minutes' WHERE room_id = '\(room)'")
    }

    /// Drops the log's days, as if two weeks had passed.
    func dropLog() throws {
        let connection = try self.database.connect()
        defer { connection.close() }
        let step = "SELECT maintain_log(7, clock_timestamp() + interval '14 days')"
        while try connection.execute(step).text(0, 0) != nil {}
    }

    static func json(_ element: Identifier, x: Int) -> String {
        #"{"id":"\#(element)","type":"note","positionX":\#(x),"positionY":2,"width":100,"height":100,"rotation":0,"#
            + #""scaleX":1,"scaleY":1,"originalWidth":100,"originalHeight":100,"anchorX":0.5,"anchorY":0.5,"#
            + #""createdBy":"ann","updatedBy":"ann","rev":1}"#
    }
}
