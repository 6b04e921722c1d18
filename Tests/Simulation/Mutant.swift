/// A mistake that a world can be given, to see that the checker finds it. None is in the cores: each is a wrong shell
/// around right cores, a wrong database below them, or a wrong device below a client.
package enum Mutant: String, CaseIterable, Sendable {
    /// The database forgets which numbers of a session were used.
    case dedupOff = "dedup-off"
    /// A batch is acknowledged and published when it is sent, not when it is committed.
    case ackBeforeCommit = "ack-before-commit"
    /// The database writes a batch whatever version of the shard it was decided on.
    case blindWrites = "blind-writes"
    /// The fan-out believes that what it was sent is all there is: it never hears of the shards' heads.
    case naivePolling = "naive-polling"
    /// The fan-out passes previews on as they come.
    case fenceOff = "fence-off"
    /// The fan-out does not read which gestures had ended when it takes a room over.
    case gesturesForgotten = "gestures-forgotten"
    /// The fan-out lets updates overtake the previews that wait.
    case previewsOvertaken = "previews-overtaken"
    /// The gateway sends of each preview only what has changed since the last one of its gesture.
    case previewsInPart = "previews-in-part"
    /// The gateway adds to a preview what another hand has moved of the element.
    case foreignValues = "foreign-values"
    /// The gateway forgets a commit once it is sent.
    case inFlightOff = "in-flight-off"
    /// The gateway sends a commit without a number while others of its connection are under way.
    case unnumberedInARow = "unnumbered-in-a-row"
    /// The gateway loses some answers.
    case answersLost = "answers-lost"
    /// The gateway does not tell a fan-out that its rooms are another one's now.
    case farewellOff = "farewell-off"
    /// The gateway goes on as before when an instance is removed from its stage's set.
    case removalOff = "removal-off"
    /// The committer leaves the last element of a group out.
    case groupInPart = "group-in-part"
    /// The database does not list the annotations of an element that is to be deleted.
    case cascadeOff = "cascade-off"
    /// The database gives a user the undo stacks of another one of the room.
    case foreignStacks = "foreign-stacks"
    /// The gateway shows everything to apps that look at a part of the canvas.
    case viewportsOff = "viewports-off"
    /// The gateway does not ask fan-outs where previews can be seen.
    case areasOff = "areas-off"
    /// The gateway does not tell a fan-out that a room has viewports when the room moves there.
    case viewportsForgotten = "viewports-forgotten"
    /// The gateway does not show an app that something leaves its viewport.
    case departuresOff = "departures-off"
    /// The gateway does not show an app what is moved in the part of the canvas that it looks at from now on.
    case entrancesOff = "entrances-off"
    /// The gateway loses some of what an app with a viewport is to see.
    case sightingsLost = "sightings-lost"
    /// The fan-out does not say where a cursor can be seen.
    case cursorsEverywhere = "cursors-everywhere"
    /// The gateway names connections to a fan-out without what they show.
    case awarenessForgotten = "awareness-forgotten"
    /// The fan-out does not say who is in a room that has moved there.
    case membersForgotten = "members-forgotten"
    /// A client finds nothing of what it has saved.
    case recordLost = "record-lost"
    /// A client sends edits before their numbers are saved.
    case sendsEarly = "sends-early"
    /// A room's history tells a client that nothing was changed.
    case historyBlank = "history-blank"
    /// A client shows an edit of its user on top of what contains it.
    case editsTwice = "edits-twice"
    /// A client shows changes a moment late.
    case jumpsBack = "jumps-back"
    /// A client has what moves begin when it hears of it.
    case startsAtArrival = "starts-at-arrival"
    /// A client plays what moves an element to its end, whatever happens to the element.
    case playsOn = "plays-on"
    /// A client sends previews of what moves by itself.
    case posesSent = "poses-sent"
    /// The gateway tells another time than it is.
    case clockWrong = "clock-wrong"
    /// A client does not draw all that changed.
    case drawingsLost = "drawings-lost"
}
