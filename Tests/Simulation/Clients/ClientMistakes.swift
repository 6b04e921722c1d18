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

    /// Whether an element is not drawn again although it changed.
    func forgets(in world: World) -> Bool { self.mutant == .drawingsLost && world.random.place(20) == 0 }
}
