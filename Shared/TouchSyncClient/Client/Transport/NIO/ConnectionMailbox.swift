#if os(Linux)
    import NIOConcurrencyHelpers
    import NIOCore

    /// What the tasks of an app and the event loop of a connection share: received messages, and how much waits to be sent.
    final class ConnectionMailbox: Sendable {
        enum Admission: Sendable {
            case accepted
            case ended
            /// Too much waits: the network takes nothing.
            case overflow
        }

        private struct State {
            var messages = CircularBuffer<String>()
            var receiver: CheckedContinuation<String?, Never>?
            var isEnded = false
            var isReadHeld = false
            var unsent = 0

            /// The answer to a receiver, nil if it must wait; and whether reading goes on.
            mutating func next(_ receiver: CheckedContinuation<String?, Never>) -> (answer: String??, reads: Bool) {
                guard let message = self.messages.popFirst() else {
                    if self.isEnded { return (.some(nil), false) }
                    precondition(self.receiver == nil, "A connection has one receiver at a time.")
                    self.receiver = receiver
                    return (nil, false)
                }
                let reads = self.isReadHeld && self.messages.count < ConnectionMailbox.readAhead
                if reads { self.isReadHeld = false }
                return (message, reads)
            }
        }

        /// How many messages wait for their receiver before reading pauses.
        private static let readAhead = 4

        private let state = NIOLockedValueBox(State())
        private let sendLimit: Int

        /// An open connection's, in which `sendLimit` bytes may wait to be sent.
        init(sendLimit: Int) { self.sendLimit = sendLimit }

        /// Whether the connection has ended, though messages may be left.
        var isEnded: Bool { self.state.withLockedValue(\.isEnded) }
    }

    // MARK: - Receiving

    extension ConnectionMailbox {
        /// The next message; nil behind the last.
        /// - Parameter read: goes on reading.
        func receive(_ read: () -> Void) async -> String? {
            await withCheckedContinuation { continuation in
                let (answer, reads) = self.state.withLockedValue { $0.next(continuation) }
                if case .some(let message) = answer { continuation.resume(returning: message) }
                if reads { read() }
            }
        }

        func deliver(_ message: String) {
            let receiver = self.state.withLockedValue { state -> CheckedContinuation<String?, Never>? in
                guard !state.isEnded else { return nil }
                guard let receiver = state.receiver.take() else {
                    state.messages.append(message)
                    return nil
                }
                return receiver
            }
            receiver?.resume(returning: message)
        }

        /// Whether more may be read. After a false, `receive` says when.
        func mayRead() -> Bool {
            self.state.withLockedValue { state in
                state.isReadHeld = !state.isEnded && state.messages.count >= Self.readAhead
                return !state.isReadHeld
            }
        }

        /// Nothing comes any more; messages that came can be received, unless they are discarded.
        /// - Returns: whether it was open until now.
        @discardableResult func end(discardingMessages: Bool) -> Bool {
            let (receiver, wasOpen) = self.state.withLockedValue { state in
                defer { state.isEnded = true }
                if discardingMessages { state.messages.removeAll() }
                return (state.receiver.take(), !state.isEnded)
            }
            receiver?.resume(returning: nil)
            return wasOpen
        }
    }

    // MARK: - Sending

    extension ConnectionMailbox {
        /// Whether `size` bytes may be sent, which wait until `sent` says otherwise.
        func admit(_ size: Int) -> Admission {
            self.state.withLockedValue { state in
                if state.isEnded { return .ended }
                if state.unsent > self.sendLimit { return .overflow }
                state.unsent += size
                return .accepted
            }
        }

        /// The network took `size` bytes, or they were dropped.
        func sent(_ size: Int) { self.state.withLockedValue { $0.unsent -= size } }
    }
#endif
