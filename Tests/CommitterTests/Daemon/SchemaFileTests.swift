import CommitterDaemon
import Foundation
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

    @Test func numbersAreConsecutive() {
        #expect(migrations.map(\.version) == Array(1...migrations.count))
    }

    /// Databases know the migrations that they have by these checksums.
    @Test func releasedFilesNeverChange() {
        #expect(
            migrations.prefix(12).map(\.checksum) == [
                "656fb6cf95058595", "89e081b5d590b944", "f92c73150abb6113",
                "1111ce817212506b", "a99725167c256023", "305d5093e06dbab2",
                "f0c8492634d17d62", "cd01c3c2b3a7d52e", "79f01708c36a80bc",
                "ba7e018d92311b4c", "2b34e5820c4718bc", "617fdd728d26b73a",
            ],
            "put the change into a new file")
    }
}
