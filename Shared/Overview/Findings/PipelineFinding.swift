/// A trouble with its place, its reason and its time.
package struct PipelineFinding: Sendable {
    package let trouble: Trouble
    package let daemon: ListedDaemon.Key
    /// A sentence for people, with figures; the latest one.
    package internal(set) var reason: String
    /// When it began, the last time if it has begun several times; milliseconds since 1970.
    package let since: UInt64
    /// When it was over, milliseconds since 1970; nil while it lasts.
    package internal(set) var until: UInt64?
    /// How often it began without 15 minutes of rest in between.
    package internal(set) var times = 1
}
