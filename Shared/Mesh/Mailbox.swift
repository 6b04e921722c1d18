internal import NIOConcurrencyHelpers

/// The result of an offer to a mailbox.
package enum Offer: Equatable, Sendable {
    case accepted
    /// The bound is reached; nothing was accepted. Shed the load, or answer "busy".
    case full
}

/// Passes batches from any number of threads to one consumer: a locked array that the consumer swaps for an empty one.
///
/// The consumer is woken only when the mailbox goes from empty to non-empty, so a busy consumer costs its producers a
/// short lock and no system call. An offer beyond the bound is rejected, never dropped silently.
package final class Mailbox<Element: Sendable>: Sendable {
    private let elements = NIOLockedValueBox<[Element]>([])
    private let capacity: Int
    private let wake: @Sendable () -> Void

    /// Creates a mailbox whose consumer is woken by `wake`, outside the lock, on the producer's thread: post a task to
    /// an event loop there.
    /// - Parameter capacity: the most elements inside, at least 1.
    package init(capacity: Int, wake: @escaping @Sendable () -> Void) {
        self.capacity = max(1, capacity)
        self.wake = wake
    }

    /// A mailbox that a reactor's loop drains in every turn.
    package convenience init(capacity: Int, waker: Waker) {
        self.init(capacity: capacity, wake: { waker.signal() })
    }

    /// Offers one element; any thread.
    package func offer(_ element: Element) -> Offer {
        let count = self.elements.withLockedValue { elements -> Int? in
            guard elements.count < self.capacity else { return nil }
            elements.append(element)
            return elements.count
        }
        if count == 1 { self.wake() }
        return count == nil ? .full : .accepted
    }

    /// Removes all elements, in order: replaces the contents of `batch` with the mailbox's, and keeps the storage of
    /// `batch` for the next ones.
    package func drain(into batch: inout [Element]) {
        batch.removeAll(keepingCapacity: true)
        self.elements.withLockedValue { if !$0.isEmpty { swap(&$0, &batch) } }
    }

    package var count: Int { self.elements.withLockedValue { $0.count } }
}
