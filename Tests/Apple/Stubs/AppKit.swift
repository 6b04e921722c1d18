@MainActor public class NSApplication {
    public enum ActivationPolicy {
        case regular
    }

    public static let shared = NSApplication()

    @discardableResult
    public func setActivationPolicy(_ policy: ActivationPolicy) -> Bool { fatalError() }
}
