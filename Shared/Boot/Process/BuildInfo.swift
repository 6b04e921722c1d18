internal import Wire

package enum BuildInfo {
    /// The version of all programs of this package.
    package static let version = "0.2.0"

    /// The version of the database's schema: that of the last migration.
    package static let schemaVersion = 21

    /// `release`, or `debug` for unoptimised builds.
    package static var configuration: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }

    /// One line for `--version` and the first log line.
    package static var line: String {
        "touchsync \(self.version) (\(self.configuration)), wire \(WireVersions.text), schema \(self.schemaVersion)"
    }

    static var labels: MetricsRegistry.Labels { ["version": self.version, "configuration": self.configuration] }
}
