import Canvas

/// What is wrong with the clients of a world that has one of the mistakes of this kind; right in every other.
struct ClientMistakes {
    let mutant: Mutant?

    /// Whether what was saved is lost when the app ends.
    func loses(_ text: [UInt8]?) -> Bool { self.mutant == .recordLost && text != nil }

    /// Whether edits are sent before the disk has their numbers.
    var sendsEarly: Bool { self.mutant == .sendsEarly }

    /// A page of the history.
    func altered(_ page: AppText) -> AppText {
        self.mutant == .historyBlank ? AppText(Array(#"{"entries":[],"next":null,"oldest":1}"#.utf8)) : page
    }

    /// What is drawn of an element.
    /// - Parameter isConfirmed: whether an edit of its user was acknowledged since it was drawn.
    func altered(_ element: Element?, isConfirmed: Bool) -> Element? {
        guard self.mutant == .editsTwice, isConfirmed, var element else { return element }
        element.positionX += 7
        return element
    }

    /// Whether a change is shown a moment late.
    var isLate: Bool { self.mutant == .jumpsBack }

    /// A packet, whose motions begin when it arrives.
    func altered(_ packet: String, at serverTime: Double?) -> String {
        guard self.mutant == .startsAtArrival, let serverTime else { return packet }
        let parts = packet.split(separator: "\"startedAt\":", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts.first ?? "")) { text, part in
            text + "\"startedAt\":\(serverTime)" + part.drop { !",}".contains($0) }
        }
    }

    /// Where an element is shown.
    /// - Parameter former: the element when it was last looked at, if it moved then.
    func altered(_ pose: Pose?, former: Element?, at serverTime: Double) -> Pose? {
        self.mutant == .playsOn ? former?.pose(at: serverTime) ?? pose : pose
    }

    /// A preview of what moves by itself.
    func preview(of moving: [String], in room: String) -> String? {
        guard self.mutant == .posesSent, let id = moving.first else { return nil }
        return #"42["element:gesturing",{"roomId":"\#(room)","elementId":"\#(id)","rotation":0,"gesture":1000000}]"#
    }

    /// Whether an element is not drawn again although it changed.
    func forgets(in world: World) -> Bool { self.mutant == .drawingsLost && world.random.place(20) == 0 }
}
