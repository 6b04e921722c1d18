import Boot
import CommitterDaemon
import Postgres
import Testing

@Suite struct SchemaVersionTests {
    /// Programs without access to the migrations say the version, too.
    @Test func theVersionOfTheSchemaIsThatOfTheLastMigration() {
        #expect(CommitterDaemon.migrations.last.map { Int($0.version) } == BuildInfo.schemaVersion)
    }
}
