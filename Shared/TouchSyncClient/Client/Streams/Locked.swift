#if canImport(os)
    import os
#else
    import NIOConcurrencyHelpers
#endif

/// A value behind a lock, for what is called without waiting.
struct Locked<Value: Sendable>: Sendable {
    #if canImport(os)
        private let box: OSAllocatedUnfairLock<Value>

        init(_ value: Value) {
            self.box = OSAllocatedUnfairLock(initialState: value)
        }

        func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result { self.box.withLock(body) }
    #else
        private let box: NIOLockedValueBox<Value>

        init(_ value: Value) {
            self.box = NIOLockedValueBox(value)
        }

        func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
            self.box.withLockedValue(body)
        }
    #endif
}
