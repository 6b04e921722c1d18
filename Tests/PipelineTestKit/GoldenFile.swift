import Foundation

/// A file of `Tests/Golden`: what a release has fixed, one thing in each line. Lines are added, never changed or removed.
package enum GoldenFile {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Golden")
        .standardized

    package static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
    }

    package static func lines(_ name: String) throws -> [String] {
        try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8).split(separator: "\n").map(
            String.init)
    }
}
