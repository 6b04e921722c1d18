internal import JSONBytes
internal import OperatorTerminal
internal import Postgres

/// What `touchsync migrate --plan` prints.
struct PlanReport {
    private let plan: MigrationPlan
    /// How many migrations there are.
    private let count: Int

    /// Looks at the database; changes nothing.
    init(of database: String, _ migrations: [Migration]) throws {
        self.count = migrations.count
        self.plan = try Migrator(migrations).plan(database)
    }

    /// For people: a line for each migration.
    var text: String {
        guard !self.plan.steps.isEmpty else { return "nothing to do: \(self.count) migrations are applied\n" }
        var lines = self.plan.databaseExists ? [] : ["creates the database"]
        lines += self.plan.steps.map { step in
            let locks = step.locks.map(Self.words)
            let what = locks.isEmpty ? "locks nothing that is in use" : locks.joined(separator: "; ")
            return "\(step.migration.version) \(step.migration.name): \(what)"
        }
        let isWaitedFor = self.plan.steps.contains { !$0.locks.isEmpty }
        if isWaitedFor, let oldest = self.plan.oldestTransaction {
            lines.append(
                "A transaction has been open for \(Quantities.span(oldest)): a lock waits for those that use its table, "
                    + "and everybody else waits behind it.")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func words(_ lock: MigrationPlan.Lock) -> String {
        let (who, size) = (lock.lock.waiting.rawValue, Quantities.bytes(Double(lock.bytes)))
        return "\(who) of \(lock.lock.table) (\(size)) wait for about \(Quantities.span(lock.seconds))"
    }

    /// For scripts, one line.
    var json: String {
        JSONWriter.line { writer in
            writer.member("creates", !self.plan.databaseExists)
            writer.objects("pending", self.plan.steps) { step, writer in
                writer.member("version", step.migration.version)
                writer.member("name", step.migration.name)
                writer.member("seconds", step.seconds)
                writer.objects("locks", step.locks) { lock, writer in
                    writer.member("table", lock.lock.table)
                    writer.member("waiting", lock.lock.waiting.rawValue)
                    writer.member("bytes", lock.bytes)
                    writer.member("seconds", lock.seconds)
                }
            }
            writer.member("oldestTransactionSeconds", ifPresent: self.plan.oldestTransaction)
            writer.member("migrations", self.count)
        }
    }
}
