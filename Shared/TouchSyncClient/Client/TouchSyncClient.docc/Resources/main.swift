import TouchSyncClient

let client = try SyncClient(url: "http://127.0.0.1:8080", user: ClientUser(id: "ada", name: "Ada"))
let failures = client.failures
Task { for await failure in failures { print(failure) } }  // why it is not connected, and what to check
client.connect()
let room = client.room("demo")

var note = NewElement(type: "note")
note.content = "Milk"
(note.transform.positionX, note.transform.positionY) = (200, 200)
let made = room.create(note)  // shown already; made.elementIds has its id
let gesture = room.begin(made.elementIds[0])  // a finger touches it
for step in 1...100 {
    gesture.update(translation: Point(x: Double(4 * step), y: 0))  // others see it move
    try await Task.sleep(for: .milliseconds(16))
}
print(try await gesture.end().result.seq)  // stored; nobody has to wait for that
await client.close()
