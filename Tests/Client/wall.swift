// Ada at the wall of the example for SwiftUI: does with its model what its views do.
//
//     wall URL FOLDER alone|together

import TouchSyncClient

let arguments = CommandLine.arguments
let wall = try Wall(server: arguments[1], user: ClientUser(id: "ada"), folder: arguments[2])
let room = wall.model.room

@MainActor func note() -> Element? { wall.model.elements.first }

@MainActor func shown(_ condition: @MainActor () -> Bool) async throws {
    while !condition() { try await Task.sleep(for: .milliseconds(10)) }
}

if arguments[3] == "alone" {
    wall.addNote(at: Point(x: 200, y: 100))
    try await shown { note() != nil && wall.failure != nil }
    wall.write("Milk", on: note()?.id ?? "")
    // Until it is killed.
    try await Task.sleep(for: .seconds(3600))
}

try await shown {
    wall.model.state == .live && note()?.content == "Milk" && wall.others == ["Bob"] && wall.failure == nil
}
let id = note()?.id ?? ""
let gesture = room.begin(id)
for step in 1...10 {
    gesture.update(translation: Point(x: Double(10 * step), y: 0))
    try await Task.sleep(for: .milliseconds(16))
}
gesture.end()
// Bob answers when he sees it there.
try await shown { note()?.positionX == 300 && note()?.content == "Bread" }
for text in ["E", "Eggs"] { wall.write(text, on: id) }
try await shown { note()?.content == "Eggs" }
room.undo()
try await shown { note()?.content == "Bread" }
room.undo()
try await shown { note()?.positionX == 200 && note()?.content == "Bread" }
