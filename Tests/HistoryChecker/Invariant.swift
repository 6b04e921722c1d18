/// What must hold of every history. The README says what each means and how it is checked.
package enum Invariant: String, CaseIterable, Sendable {
    case durable = "I1"
    case noPhantom = "I2"
    case gapless = "I3"
    case fold = "I4"
    case prefix = "I5"
    case convergence = "I6"
    case sessionOrder = "I7"
    case realTime = "I8"
    case liveness = "I9"
    case previews = "I10"
    case unknowns = "I12"
    case isolation = "I13"
    case answers = "I14"
    case groups = "I15"
    case undo = "I16"
    case legacy = "I18"
    case viewports = "I19"
    case people = "I20"

    /// A few words for the report.
    var title: String {
        switch self {
        case .durable: "acknowledged is in the log"
        case .noPhantom: "no phantom, no duplicate"
        case .gapless: "orders without gaps"
        case .fold: "state is the fold of the log"
        case .prefix: "apps see a prefix"
        case .convergence: "apps converge"
        case .sessionOrder: "a session's order"
        case .realTime: "real-time order"
        case .liveness: "everything is answered"
        case .previews: "previews keep their place"
        case .unknowns: "unknown outcomes resolve"
        case .isolation: "only rooms that were joined"
        case .answers: "one answer each"
        case .groups: "groups are whole"
        case .undo: "undo takes back its own"
        case .legacy: "1.0 apps see the same"
        case .viewports: "what is in view is seen"
        case .people: "cursors and selections are as shown"
        }
    }
}
