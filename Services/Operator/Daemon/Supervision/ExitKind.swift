/// How a process ended.
package enum ExitKind: Sendable, Equatable, CustomStringConvertible {
    case code(Int32)
    case signal(Int32)
    /// It could not be started; the errno's text.
    case unstarted(String)

    package var description: String {
        switch self {
        case .code(78): "refused its settings (exit code 78)"
        case .code(let code): "ended with exit code \(code)"
        case .signal(let signal): "was killed by signal \(signal)"
        case .unstarted(let reason): "could not be started: \(reason)"
        }
    }
}
