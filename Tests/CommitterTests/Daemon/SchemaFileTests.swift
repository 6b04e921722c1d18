import Boot
import CommitterDaemon
import Foundation
import PipelineTestKit
import Postgres
import Testing

@Suite struct SchemaFileTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Services/Committer/Daemon/Schema").standardized

    @Test func programContainsEveryFileAsItIs() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
        let names = migrations.map { String(format: "%04d-", $0.version) + $0.name + ".sql" }
        #expect(files == names)
        for (file, migration) in zip(files, migrations) {
            let text = try Data(contentsOf: Self.folder.appending(path: file))
            #expect(Data(migration.sql.utf8) == text, "\(file)")
        }
    }

    /// Databases have these: what changes is a further migration.
    @Test func releasedMigrationsNeverChange() throws {
        let today = migrations.map { "\($0.version) \($0.name) \($0.checksum)" }
        for line in try GoldenFile.lines("schema.txt") { #expect(today.contains(line), "\(today)") }
    }

    @Test func numbersAreConsecutive() {
        #expect(migrations.map(\.version) == Array(19..<19 + migrations.count))
    }

    /// Programs without access to the migrations say the version, too.
    @Test func theVersionOfTheSchemaIsThatOfTheLastMigration() {
        #expect(migrations.last?.version == BuildInfo.schemaVersion)
    }
}
