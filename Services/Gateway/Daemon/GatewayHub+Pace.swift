import GatewayCore
import NIOCore

/// Previews that wait: for their room's pace, or for a turn that has time for them.
extension GatewayHub {
    /// What is due already lets what came in the meantime go first: what apps sent, and results.
    private static let breath = TimeAmount.microseconds(50)

    /// Sees to it that the core delivers when something is due.
    func armDelivery() {
        guard let due = self.core.nextDelivery(), due < self.deliveryAt else { return }
        self.delivery?.cancel()
        self.deliveryAt = due
        let deadline = max(.uptimeNanoseconds(due * 1_000_000), .now() + Self.breath)
        self.delivery = self.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [unowned self] in
            self.deliveryAt = .max
            self.core.turnBegan()
            self.core.deliver(at: self.now)
            self.settle()
        }
    }
}
