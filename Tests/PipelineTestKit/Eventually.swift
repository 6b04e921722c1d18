/// Waits until a condition holds.
///
/// It asks every 2 ms, because the conditions have no event in common: they are counters of threads and daemons as they run
/// in production, rows of a database, and states of processes.
/// - Parameter limit: it is an error when it does not hold within this time, which should be far more than enough: on two
///   cores the blocking tests of other suites may have all threads for half of it.
/// - Throws: ``Overdue``, or what the condition throws.
package func eventually(
    _ what: String, within limit: Duration = .seconds(45), _ condition: () throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while try !condition() {
        guard ContinuousClock.now < end else { throw Overdue(description: "not within \(limit): \(what)") }
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// What a test waited for did not come.
package struct Overdue: Error, CustomStringConvertible {
    /// What that was.
    package let description: String
}
