public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    public init(initialState: State) { fatalError() }

    public func withLock<Value: Sendable>(_ body: @Sendable (inout State) throws -> Value) rethrows -> Value {
        fatalError()
    }
}
