/// The first frame of every message between two links: one byte.
package enum FrameKind: UInt8 {
    /// A `Hello` follows: the dialling side greets first, the bound side answers with its own.
    case hello = 0
    /// "I am alive", alone; sent when nothing else was for a beat. Needs no answer: both sides beat.
    case beat = 1
    /// The hello was of another version; the refusing side's two versions follow (2 × u16). The connection is given up.
    case refusal = 2
    /// "Forget me", alone: an orderly end, or the answer to a peer that is not known (any more).
    case goodbye = 3
    /// Frames of the link's user follow, at least one.
    case data = 4
    /// The bound side's beat while it rests, alone; also ahead of its hello, and at once when it begins to rest. The next
    /// plain beat ends that. A peer of a release before this drops and counts it.
    case rest = 5
}
