import Boot
import Canvas
import CommitterCore
import CommitterDaemon
import Mesh
import PipelineTestKit
import Postgres
import Testing
import Wire

@Suite struct BatchFailureTests {
    @Test(arguments: [
        ("40001", BatchFailure.other(.transient)), ("40P01", .other(.transient)), ("55P03", .other(.transient)),
        ("57014", .other(.transient)), ("53100", .other(.transient)), ("42883", .other(.transient)),
        ("22021", .other(.data)), ("22003", .other(.data)), ("23505", .other(.data)), ("23514", .other(.data)),
        ("TS001", .stale),
    ])
    func codesDecide(code: String, failure: BatchFailure) {
        #expect(BatchFailure(PostgresError(SQLState(code), "")) == failure)
    }

    @Test func whatNobodyKnowsIsLost() {
        #expect(BatchFailure(PostgresError(.checkViolation, "", outcome: .unknown)) == .other(.lost))
    }
}

@Suite struct DatabaseGuardTests {
    private func facts(_ change: (inout ServerFacts) -> Void = { _ in }) -> ServerFacts {
        var facts = ServerFacts()
        facts.systemIdentifier = 7
        facts.timeline = 3
        change(&facts)
        return facts
    }

    @Test func serversThatLoseCommitsAreRefused() {
        var guardian = DatabaseGuard(allowsUnsafe: false)
        #expect(guardian.objection(to: self.facts()) == nil)
        #expect(guardian.objection(to: self.facts { $0.fsync = false }) == "fsync is off")
        #expect(guardian.objection(to: self.facts { $0.isReadOnly = true }) != nil)
        #expect(guardian.objection(to: self.facts { $0.isInRecovery = true }) != nil)
        var careless = DatabaseGuard(allowsUnsafe: true)
        #expect(careless.objection(to: self.facts { $0.fsync = false }) == nil)
        #expect(careless.objection(to: self.facts { $0.isReadOnly = true }) != nil)
    }

    @Test func formerPrimaryIsRefused() {
        var guardian = DatabaseGuard(allowsUnsafe: false)
        #expect(guardian.objection(to: self.facts()) == nil)
        #expect(guardian.objection(to: self.facts { $0.timeline = 4 }) == nil)
        #expect(guardian.objection(to: self.facts { $0.timeline = 3 }) == "the server was replaced by another one")
        #expect(guardian.objection(to: self.facts { $0.systemIdentifier = 8 }) != nil)
        #expect(guardian.objection(to: self.facts { $0.systemIdentifier = nil }) == nil)
    }

    @Test func anotherHistoryIsSeenEvenWhenTheFirstAnswerThatToldIsLost() {
        var guardian = DatabaseGuard(allowsUnsafe: false)
        _ = guardian.objection(to: self.facts())
        let before = [("e1", HistoryNote.Verdict.first), ("e1", .same), ("e2", .same)]
        #expect(before.map { guardian.isNew(HistoryNote($0.1, epoch: Identifier($0.0))) } == [false, false, true])
        // The failover was noted in the database, the connection broke before it was told here.
        _ = guardian.objection(to: self.facts { $0.timeline = 4 })
        let after = [("e2", HistoryNote.Verdict.same), ("e2", .same), ("e2", .failover)]
        #expect(after.map { guardian.isNew(HistoryNote($0.1, epoch: Identifier($0.0))) } == [true, false, true])
    }
}

@Suite struct CommitterSettingsTests {
    private func values(_ change: (inout SettingValues) -> Void = { _ in }) -> SettingValues {
        var values = SettingValues(defaultsOf: CommitterSettings.schema)
        values.set(SharedSettings.bind, "ipc:///tmp/x.sock")
        values.set(SharedSettings.databaseURL, "postgresql:///x")
        change(&values)
        return values
    }

    @Test func defaultsAreTheDocumentedOnes() throws {
        let settings = try CommitterSettings(self.values())
        #expect(settings.limits == CommitterLimits())
        #expect(settings.databaseConnections == 4 && settings.migrates && !settings.allowsUnsafeDatabase)
        #expect(settings.rules == .builtIn)
        #expect(throws: SettingProblem.self) {
            try CommitterSettings(SettingValues(defaultsOf: CommitterSettings.schema))
        }
    }
}
