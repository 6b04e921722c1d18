import HistoryChecker
import JSONBytes

// The answers to an app's commits, recorded.
extension RoomWitness {
    /// A commit of a session was acknowledged.
    func accepted(_ answer: JSONValue, as number: UInt64, of session: String, _ event: String) {
        self.world.count("acks.\(event)")
        self.observe(.ok) {
            $0.session = session
            $0.number = number
            $0.seq = UInt64(answer["seq"]?.integer ?? 0)
            switch event {
            case "elements:transform", "elements:gesture", "elements:throw", "elements:halt":
                $0.geometry = AppText.geometries(of: answer["elements"])
            case "elements:animate": break
            case "elements:create": $0.elements = AppText.states(of: answer["elements"])
            case "history:undo", "history:redo":
                $0.isUnchanged = answer["undone"] == nil
                ($0.event, $0.user) = (event, self.name)
            case "element:delete", "elements:delete": $0.elements = AppText.deletedStates(of: answer["elementIds"])
            default: $0.elements = AppText.state(of: answer["element"])
            }
        }
    }

    /// A commit of a session was refused.
    /// - Returns: whether it was refused for good.
    func refused(_ error: JSONValue?, as number: UInt64, of session: String) -> Bool {
        let code = error?["code"]?.string ?? "?"
        let isFinal = !["gap", "rate_limited", "busy", "unavailable", "session_expired", "?"].contains(code)
        self.observe(.refused) {
            $0.session = session
            $0.number = number
            $0.code = code
            $0.isFinal = isFinal
        }
        return isFinal
    }
}
