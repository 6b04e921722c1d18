/// How long something took, less the time for which a busy machine let nobody run: what a bound on it may be held
/// against.
///
/// Beside it a witness sleeps a few milliseconds over and over; what a sleep takes longer than that is the machine's.
/// - Throws: what the body throws.
package func undisturbedTime(_ body: () async throws -> Void) async throws -> Duration {
    let clock = ContinuousClock()
    let start = clock.now
    let witness = Task.detached { await delays(of: .milliseconds(5)) }
    defer { witness.cancel() }
    try await body()
    let took = clock.now - start
    witness.cancel()
    return took - (await witness.value)
}

/// Sleeps until it is cancelled, and returns by how much all sleeps together were too long.
private func delays(of pause: Duration) async -> Duration {
    let clock = ContinuousClock()
    var delays = Duration.zero
    while !Task.isCancelled {
        let asleep = clock.now
        // Ends early only when it is cancelled.
        try? await Task.sleep(for: pause)
        delays += max(.zero, clock.now - asleep - pause)
    }
    return delays
}
