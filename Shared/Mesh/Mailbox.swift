package import NIOConcurrencyHelpers

/// The result of an offer to a mailbox.
package enum Offer: Equatable, Sendable {
    case accepted
    /// The bound is reached; nothing was accepted. Shed the load, or answer "busy".
    case full
    /// The consumer is gone; nothing was accepted.
    case closed
}

/// Passes batches from any number of threads to one consumer: a locked array that the consumer swaps for an empty one.
///
/// The consumer is woken only when the mailbox goes from empty to non-empty, so a busy consumer costs its producers a
/// short lock and no system call. Bounded by the sum of weights (elements, or bytes if weighted by bytes); an offer
/// that does not fit is rejected, never dropped silently. One element always fits into an empty mailbox, however heavy.
///
/// Inlinable, as both ends use it several hundred times a second: unspecialised code looks up the element's type each
/// time.
package final class Mailbox<Element: Sendable>: Sendable {
    @usableFromInline
    package struct State {
        @usableFromInline var elements: [Element] = []
        @usableFromInline var weight = 0
        @usableFromInline var isClosed = false

        @usableFromInline
        init() {}
    }

    @usableFromInline let state = NIOLockedValueBox(State())
    @usableFromInline let capacity: Int
    @usableFromInline let wake: @Sendable () -> Void

    /// Creates a mailbox whose consumer is woken by `wake`, outside the lock, on the producer's thread: post a task to
    /// an event loop there.
    /// - Parameter capacity: the bound for the sum of weights, at least 1.
    package init(capacity: Int, wake: @escaping @Sendable () -> Void) {
        self.capacity = max(1, capacity)
        self.wake = wake
    }

    /// A mailbox that a reactor's loop drains in every turn.
    package convenience init(capacity: Int, waker: Waker) {
        self.init(capacity: capacity, wake: { waker.signal() })
    }

    /// Offers one element; any thread.
    @inlinable
    package func offer(_ element: Element, weight: Int = 1) -> Offer {
        let (result, wasEmpty) = self.state.withLockedValue { state -> (Offer, Bool) in
            let admitted = self.admit(&state, weight)
            guard admitted == .accepted else { return (admitted, false) }
            state.elements.append(element)
            return (.accepted, state.elements.count == 1)
        }
        if wasEmpty { self.wake() }
        return result
    }

    /// Removes all elements, in order: replaces the contents of `batch` with the mailbox's, and keeps the storage of
    /// `batch` for the next ones.
    @inlinable
    package func drain(into batch: inout [Element]) {
        batch.removeAll(keepingCapacity: true)
        self.state.withLockedValue { state in
            state.weight = 0
            if !state.elements.isEmpty { swap(&state.elements, &batch) }
        }
    }

    /// Rejects offers from now on; the elements inside can still be drained.
    package func close() { self.state.withLockedValue { $0.isClosed = true } }

    package var count: Int { self.state.withLockedValue { $0.elements.count } }

    // Weights come from our own code, but may be lengths sent by a peer: no overflow.
    @inlinable
    func admit(_ state: inout State, _ weight: Int) -> Offer {
        if state.isClosed { return .closed }
        let (sum, overflow) = state.weight.addingReportingOverflow(max(0, weight))
        guard state.elements.isEmpty || (!overflow && sum <= self.capacity) else { return .full }
        state.weight = overflow ? .max : sum
        return .accepted
    }
}
